import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import { check } from '../../../src/verify/checker.js';
import { Hands } from '../../../src/verify/hands.js';
import type { History } from '../../../src/verify/history.js';
import { Lines } from '../../../src/verify/lines.js';
import type { Summary } from '../../../src/verify/report.js';
import { runOn } from '../../../src/verify/run.js';
import type { Violation } from '../../../src/verify/violation.js';
import { Invocation, invoke } from '../../support/invocation.js';
import { Operator } from '../../support/operator.js';

/* The fault test that users point at their own ensemble: without violations, with them, and not wanted. */

const T = 3_000;

let ensemble: Ensemble;
let folder: string;
const at = (): NodeJS.ProcessEnv => ({
  TENURE_SERVERS: ensemble.connectString,
  TENURE_SESSION_TIMEOUT: `${T}ms`,
  TMPDIR: folder,
});

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 300, fsync: false });
  folder = mkdtempSync(join(tmpdir(), 'tenure-verify-test-'));
}, 120_000);

afterAll(async () => {
  await ensemble?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** Roots of runs that are there now. */
async function roots(): Promise<string[]> {
  await using operator = await Operator.at(ensemble.connectString);
  const { names } = (await operator.session.children('/')) ?? { names: [] };
  return names.filter((name) => name.startsWith('tenure-verify-'));
}

/** Processes of runs whose files lie in our folder. */
function processes(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        const state = /^State:\t(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        return environment.includes(`TMPDIR=${folder}`) && state !== 'Z';
      } catch {
        return false;
      }
    });
}

describe('a run', () => {
  it('torments workers at a real ensemble for 20 seconds, finds no violation, and leaves nothing behind', async () => {
    const out = join(folder, 'out');
    const words = ['verify', '--minutes', '0.34', '--workers', '3', '--seed', '7', '--yes', '--json', '--out', out];
    const { code, out: said, err } = await invoke(words, at());
    expect({ code, err, said }).toMatchObject({ code: 0, err: '' });
    const told = JSON.parse(said) as Summary & { violations: Violation[]; removed: boolean };
    expect(told).toMatchObject({ seed: 7, sessionTimeoutMs: T, violations: [], quorumKnown: true, removed: true });
    expect(told.terms).toBeGreaterThan(2);
    expect(told.writes).toBeGreaterThan(20);
    expect(Object.keys(told.faults).length).toBeGreaterThan(4);
    const history = JSON.parse(readFileSync(join(out, 'seed-7.json'), 'utf8')) as History;
    expect(check(history)).toEqual([]);
    expect(history.acknowledged.length).toBeGreaterThan(20);
    expect(readFileSync(join(out, 'seed-7.svg'), 'utf8')).toContain('<svg');
    expect(readFileSync(join(out, 'seed-7.txt'), 'utf8')).toContain('no violations');
    expect(await roots()).toEqual([]);
    expect(readdirSync(folder)).toEqual(['out']);
    await waitFor(() => processes().length === 0, { what: 'the helpers to be gone' });
  }, 180_000);

  it('keeps to its chroot, and to credentials that nobody else has; and says so where no server tells how it does', async () => {
    // A line that knows ZooKeeper's packets, and lets no words through.
    await using lines = new Lines();
    const line = await lines.to(ensemble.servers[0] as ZooKeeperServer);
    const words = ['verify', '--minutes', '0.1', '--workers', '2', '--yes', '--json', '--acl', 'auth::cdrwa'];
    const servers = `${line.address}/below`;
    const { out, err } = await invoke([...words, '--servers', servers], { ...at(), TENURE_AUTH: 'digest:ada:secret' });
    expect(err).toBe('');
    const { violations, ...told } = JSON.parse(out) as Summary & { violations: Violation[] };
    expect(told).toMatchObject({ quorumKnown: false, removed: true });
    expect(told.writes).toBeGreaterThan(0);
    // So short a run may have been without a change of leaders.
    expect(violations.filter(({ kind }) => kind !== 'nothing_to_judge')).toEqual([]);
    const ada = [{ scheme: 'digest', credential: 'ada:secret' }];
    const hands = await Hands.open({ servers: ensemble.connectString, auth: ada });
    expect((await hands.byHand((session) => session.children('/below')))?.names).toEqual([]);
    await hands.close();
  }, 120_000);

  it('with a guard that lets everybody through finds what that does', async () => {
    const worker = fileURLToPath(new URL('./unguarded-worker.ts', import.meta.url));
    const { history, removed } = await runOn({
      connect: { servers: ensemble.connectString, sessionTimeoutMs: T, root: '/tenure-verify-unguarded' },
      workers: 2,
      worker: [process.execPath, '--import', 'tsx', worker],
      forMs: 12_000,
      seed: 1,
      only: ['transfer'],
      tickTimeMs: 300,
      signal: new AbortController().signal,
      tell: () => {},
    });
    expect(removed).toBe(true);
    const kinds = new Set(check(history).map(({ kind }) => kind));
    expect([...kinds].filter((kind) => kind === 'stale_write_accepted' || kind === 'write_lost')).not.toEqual([]);
    // The elections were in order: it is the guard alone that failed.
    expect(kinds).not.toContain('leases_overlap');
  }, 180_000);

  it('that is interrupted ends in good order', async () => {
    const verify = new Invocation(['verify', '--minutes', '5', '--workers', '2', '--yes'], at());
    await waitFor(() => verify.err.includes('2 workers run'), { what: 'its workers', timeoutMs: 60_000 });
    expect(await roots()).toHaveLength(1);
    verify.signal('SIGINT');
    expect(await verify.exited).toBe(130);
    expect(await roots()).toEqual([]);
    expect(readdirSync(folder).filter((name) => name !== 'out')).toEqual([]);
  }, 120_000);

  it('that is killed leaves no process behind, frozen ones included', async () => {
    const words = ['verify', '--minutes', '5', '--workers', '2', '--yes', '--only', 'freeze_worker'];
    const verify = new Invocation(words, at());
    await waitFor(() => verify.err.includes('2 workers run'), { what: 'its workers', timeoutMs: 60_000 });
    const frozen = () => processes().some((pid) => /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
    await waitFor(frozen, { what: 'a frozen worker', timeoutMs: 60_000, intervalMs: 20 });
    verify.signal('SIGKILL');
    await verify.exited;
    await waitFor(() => processes().length === 0, { what: 'its processes to be gone' });
  }, 120_000);
});

describe('a judgement of an old run', () => {
  it('tells of violations, and ends with 1', async () => {
    const history: History = JSON.parse(readFileSync(join(folder, 'out', 'seed-7.json'), 'utf8'));
    const forged = join(folder, 'forged.json');
    const [first] = history.writes;
    const last = history.writes.at(-1);
    if (first === undefined || last === undefined) throw new Error('there are no writes');
    const stale = { order: last.order + 1, key: 'forged', who: first.who, token: first.token };
    writeFileSync(forged, JSON.stringify({ ...history, writes: [...history.writes, stale] }));
    const text = await invoke(['verify', '--judge', forged]);
    expect(text).toMatchObject({ code: 1, err: '' });
    expect(text.out).toContain('VIOLATION stale_write_accepted: ');
    const { code, out } = await invoke(['verify', '--judge', forged, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ seed: 7, violations: [{ kind: 'stale_write_accepted' }] });
    expect((await invoke(['verify', '--judge', join(folder, 'out', 'seed-7.json')])).code).toBe(0);
  });

  it('refuses what is no history', async () => {
    const none = await invoke(['verify', '--judge', fileURLToPath(import.meta.url)]);
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.err).toContain('is no history of tenure verify');
  });
});

describe('before it begins', () => {
  it('says what it will do, and does nothing where nobody can be asked', async () => {
    const before = await roots();
    const { code, out, err } = await invoke(['verify'], at());
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(
      /4 worker processes .* lead in turn at .*, below \/tenure-verify-[0-9a-f]{8}, which is removed/,
    );
    expect(err).toContain('say --yes if you mean it');
    expect(await roots()).toEqual(before);
  });

  it.each([
    [['--minutes', 'two'], '--minutes "two" must be a number of minutes'],
    [['--workers', '1'], '--workers 1 must be from 2 to 32'],
    [['--only', 'kill_worker,kil'], '--only: there is no fault "kil"'],
    [['--tls', '--only', 'drop_connections'], 'by TLS there are none'],
  ])('refuses %j', async (words, why) => {
    const { code, out, err } = await invoke(['verify', '--yes', ...words], at());
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(why);
  });

  it('tells that the ensemble is out of reach by its code', async () => {
    const words = ['verify', '--yes', '--servers', '127.0.0.1:1', '--connect-timeout', '1s'];
    expect((await invoke(words)).code).toBe(5);
  });
});
