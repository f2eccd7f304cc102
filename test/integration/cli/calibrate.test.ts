import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import { resolveDistribution } from '../../../deploy/local/zookeeper/distribution.js';
import type { Calibration } from '../../../src/cli/calibrate/findings.js';
import { sleep } from '../../../src/verify/monotonic.js';
import { Invocation, invoke } from '../../support/invocation.js';
import { Operator } from '../../support/operator.js';

/* What calibrate measures on a real server, frozen and not, and with servers of its own that it kills. */

const T = 4_000;

let ensemble: Ensemble;
let folder: string;
const at = (): NodeJS.ProcessEnv => ({ TENURE_SERVERS: ensemble.connectString, TENURE_SESSION_TIMEOUT: `${T}ms` });

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 400, fsync: false });
  folder = mkdtempSync(join(tmpdir(), 'tenure-calibrate-test-'));
}, 120_000);

afterAll(async () => {
  await ensemble?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

type Told = Calibration & {
  readonly distributions: Readonly<Record<string, { readonly count?: number; readonly max?: number }>>;
};

const read = (text: string): Told => JSON.parse(text) as Told;

describe('a measurement', () => {
  it('ends in a proposal within what the ensemble grants, and leaves nothing behind', async () => {
    const root = '/measured';
    const { code, out, err } = await invoke(
      ['calibrate', '--for', '24s', '--json', '--root', root, '--accept-one-in', '1s'],
      at(),
    );
    expect(err).toBe('');
    expect(code).toBe(0);
    const told = read(out);
    expect(told).toMatchObject({ grantedMs: T, expired: false, enough: true, injected: null });
    expect(told.measuredMs).toBeGreaterThanOrEqual(24_000);
    // One every 50 ms, on a machine that is busy with other things.
    expect(told.writes.sent).toBeGreaterThan(120);
    expect(told.distributions['write round trips']?.count).toBe(told.writes.sent - told.writes.failed);
    expect(told.choices[0]?.timeoutMs).toBe(800);
    expect(told.choices.at(-1)?.timeoutMs).toBe(8_000);
    expect(told.choices).toContainEqual(told.proposal);
    const odds = told.choices.map(({ falseEveryMs }) => falseEveryMs ?? 0);
    expect(odds).toEqual(odds.toSorted((a, b) => a - b));
    await using operator = await Operator.at(ensemble.connectString, { root, sessionTimeoutMs: T });
    expect((await operator.session.children(`${root}/sessions`))?.names).toEqual([]);
  });

  it('that is stopped early tells what there is, and that it is too little', async () => {
    const calibrate = new Invocation(['calibrate', '--for', '1h'], at());
    await sleep(4_000);
    calibrate.signal('SIGINT');
    expect(await calibrate.exited).toBe(1);
    expect(calibrate.err).toContain('measuring for 60 min');
    expect(calibrate.out).toMatch(/^write round trips: \d+; half below /m);
    expect(calibrate.out).toContain('█');
    expect(calibrate.out).toContain('Nothing is proposed: too little was measured.');
    expect(calibrate.out).not.toContain('\u001b');
  });

  it('counts the time in which a server hangs as one long silence, which the timeout has to outlast', async () => {
    const [server] = ensemble.servers as readonly [ZooKeeperServer];
    const calibrate = new Invocation(['calibrate', '--for', '8s', '--json'], at());
    await sleep(3_500);
    server.freeze();
    await sleep(1_500);
    server.thaw();
    await calibrate.exited;
    const told = read(calibrate.out);
    const [longest] = told.mustOutlast;
    expect(longest?.what).toBe('the longest silence that was measured');
    expect(longest?.ms).toBeGreaterThan(1_400);
    expect(told.choices[0]?.tooShortFor).toEqual(['the longest silence that was measured']);
    expect(told.distributions['write round trips']?.max).toBeGreaterThan(1_000);
  });
});

/** The folder of an unpacked ZooKeeper, which Debian's package is not. With TENURE_REQUIRE_ALL=1 it must be there. */
async function zookeeperHome(context: TestContext): Promise<string> {
  const { directory } = await resolveDistribution();
  if (existsSync(join(directory, 'lib'))) return directory;
  const reason = 'no mvn found, which fetches ZooKeeper (Debian: apt-get install maven)';
  if (process.env['TENURE_REQUIRE_ALL']) throw new Error(reason);
  return context.skip(reason);
}

/** The processes that work below this folder. */
function workingIn(directory: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
    } catch {
      return false;
    }
  });
}

describe('--inject', () => {
  it('needs a ZooKeeper, and says where to get one', async () => {
    const none = await invoke(['calibrate', '--inject'], at());
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.err).toContain('--zookeeper-home DIR, or the environment variable ZOOKEEPER_HOME');
    const empty = await invoke(['calibrate', '--inject', '--for', '100ms'], { ...at(), ZOOKEEPER_HOME: folder });
    expect(empty).toMatchObject({ code: 2, out: '' });
    expect(empty.err).toContain('holds no lib/zookeeper-');
  });

  it('stands still, kills servers of its own, and proposes what outlasts them', async (context) => {
    const directory = await zookeeperHome(context);
    const words = ['calibrate', '--for', '2s', '--json', '--inject', '--zookeeper-home', directory];
    const { code, out, err } = await invoke(words, { ...at(), TMPDIR: folder });
    expect(err).toBe('');
    const told = read(out);
    // Two seconds of measuring are too little for a proposal; what was injected is told all the same.
    expect(code).toBe(1);
    expect(told.injected?.pauses.map(({ pausedMs }) => pausedMs)).toEqual([400, 1_200, 2_000]);
    for (const { pausedMs, silenceMs } of told.injected?.pauses ?? [])
      expect(silenceMs).toBeGreaterThanOrEqual(pausedMs);
    expect(told.injected?.leaderRestartsMs).toHaveLength(3);
    expect(told.injected?.followerRestartsMs).toHaveLength(3);
    const worst = Math.max(...(told.injected?.leaderRestartsMs ?? []));
    expect(told.mustOutlast).toContainEqual({ what: "a restart of the ensemble's leader", ms: worst });
    // Without a leader nothing is confirmed until there is another one.
    expect(worst).toBeGreaterThan(100);
    expect(workingIn(folder)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  }, 180_000);

  it('leaves no server behind when it is killed in the middle', async (context) => {
    const directory = await zookeeperHome(context);
    const words = ['calibrate', '--for', '100ms', '--inject', '--zookeeper-home', directory];
    const calibrate = new Invocation(words, { ...at(), TMPDIR: folder });
    await waitFor(() => calibrate.err.includes('standing still'), { what: 'its ensemble to run', timeoutMs: 90_000 });
    expect(workingIn(folder).length).toBeGreaterThanOrEqual(3);
    calibrate.signal('SIGKILL');
    expect(await calibrate.exited).toBe('SIGKILL');
    await waitFor(() => workingIn(folder).length === 0, { what: 'its servers to be gone' });
  }, 120_000);
});
