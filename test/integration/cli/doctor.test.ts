import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, type ZooKeeperServer } from '../../../deploy/local/index.js';
import type { Finding } from '../../../src/cli/doctor/finding.js';
import { Contender } from '../../support/contender.js';
import { invoke } from '../../support/invocation.js';
import { Operator } from '../../support/operator.js';

/* What doctor finds on real servers, healthy and not. */

const T = 2_000;

interface Told {
  readonly code: number | string;
  readonly worst: string;
  readonly findings: readonly Finding[];
}

let ensemble: Ensemble;
let names = 0;
const fresh = (): string => `/doctor-${++names}`;

async function doctor(
  servers: string,
  words: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  timeoutMs = T,
): Promise<Told> {
  const options = [
    '--json',
    '--servers',
    servers,
    '--session-timeout',
    `${timeoutMs}ms`,
    '--server-timeout',
    '2s',
    '--samples',
    '5',
  ];
  const { code, out, err } = await invoke(['doctor', ...options, ...words], env);
  if (out === '') throw new Error(`doctor said nothing but ${err}`);
  const { worst, findings } = JSON.parse(out) as { worst: string; findings: Finding[] };
  // Whatever asks for something says what.
  for (const { severity, fix } of findings) expect(fix === null).toBe(severity === 'ok');
  return { code, worst, findings };
}

const of = ({ findings }: Told, check: string): string[] =>
  findings.filter((finding) => finding.check === check).map(({ severity, message }) => `${severity}: ${message}`);

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 3, tickTime: 200, fsync: false });
}, 120_000);

afterEach(() => ensemble.restore());

afterAll(async () => {
  await ensemble?.close();
});

describe('a healthy ensemble', () => {
  it('is told as such, and nothing is left behind in it', async () => {
    const root = fresh();
    await using operator = await Operator.at(ensemble.connectString, { root, sessionTimeoutMs: T });
    await using contender = await Contender.enter(ensemble.connectString, 'pay', 'a', { root, sessionTimeoutMs: T });
    await contender.leading();
    const told = await doctor(ensemble.connectString, ['--root', root]);
    expect(told.findings.filter(({ severity }) => severity === 'warning' || severity === 'error')).toEqual([]);
    expect(told).toMatchObject({ code: 0, worst: 'notice' });
    expect(of(told, 'quorum')[0]).toMatch(/^ok: 3 of 3 voters serve/);
    expect(of(told, 'versions')[0]).toContain(`ZooKeeper ${ensemble.version}`);
    expect(of(told, 'membership')).toEqual(['ok: the connect string names all voters']);
    expect(of(told, 'round_trips')[0]).toMatch(/a write takes .* of 5/);
    expect(of(told, 'clock_skew')[0]).toMatch(/^ok: /);
    expect(of(told, 'acl')[0]).toMatch(/^notice: .* is open to everybody/);
    expect(of(told, 'native_driver')[0]).toMatch(/^ok: /);
    await operator.session.sync('/');
    expect((await operator.session.children(root))?.names.toSorted()).toEqual(['pay', 'sessions']);
    expect((await operator.session.children(`${root}/sessions`))?.names).toHaveLength(1);
  });

  it('is told in text too, quietly where that is wanted, and without a write where none is wanted', async () => {
    const root = fresh();
    const words = ['doctor', '-s', ensemble.connectString, '--session-timeout', `${T}ms`, '--root', root];
    const text = await invoke(words);
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toMatch(/^ok +quorum: 3 of 3 voters serve/m);
    expect(text.out).toMatch(/0 errors, 0 warnings, 1 notice\n$/);
    const quiet = await invoke([...words, '--quiet', '--driver', 'wire']);
    expect(quiet.out).not.toMatch(/^ok /m);
    await using operator = await Operator.at(ensemble.connectString, { root, sessionTimeoutMs: T });
    const before = await operator.session.stat('/');
    const silent = await doctor(ensemble.connectString, ['--root', root, '--read-only', '--driver', 'wire']);
    expect(of(silent, 'access')[0]).toMatch(/^ok: \/: we may read; the root is absent/);
    expect(of(silent, 'round_trips')[0]).toContain('a read takes');
    expect((await operator.session.stat('/'))?.cversion).toBe(before?.cversion);
  });
});

describe('an ensemble in trouble', () => {
  it('with a server killed is a warning, with one frozen too; with two there is no quorum', async () => {
    const [first, second, third] = ensemble.servers as [ZooKeeperServer, ZooKeeperServer, ZooKeeperServer];
    await first.kill();
    const one = await doctor(ensemble.connectString, ['--driver', 'wire']);
    expect(one).toMatchObject({ code: 0, worst: 'warning' });
    expect(of(one, 'reachability')).toEqual([expect.stringMatching(/^warning: .* grants no session: .*ECONNREFUSED/)]);
    expect(of(one, 'quorum')[0]).toMatch(/^warning: 2 of 3 voters serve: the next one that goes/);
    expect(await doctor(ensemble.connectString, ['--strict', '--driver', 'wire'])).toMatchObject({ code: 1 });
    second.freeze();
    const two = await doctor(ensemble.connectString, ['--driver', 'wire']);
    expect(two).toMatchObject({ code: 5, worst: 'error' });
    expect(of(two, 'quorum')[0]).toMatch(/^error: no quorum/);
    expect(of(two, 'reachability').map((line) => line.split(':')[0])).toEqual(['error', 'error', 'error']);
    expect(third.running).toBe(true);
  });

  it('that grants another timeout, or is not named in full, is told', async () => {
    const [, second] = ensemble.servers as [ZooKeeperServer, ZooKeeperServer];
    const told = await doctor(second.address, ['--driver', 'wire'], {}, 60_000);
    expect(of(told, 'session_timeout')).toEqual(['warning: asked for 60 s, granted 4 s; it grants 400 ms to 4 s']);
    expect(of(told, 'membership')[0]).toMatch(/^notice: the connect string doesn't name /);
  });

  it('whose words are not allowed is told, and so is a server that is alone', async () => {
    await using alone = await startEnsemble({
      size: 1,
      tickTime: 200,
      fsync: false,
      extraConfig: ['4lw.commands.whitelist=srvr'],
    });
    const told = await doctor(alone.connectString, ['--driver', 'wire']);
    expect(of(told, 'words')).toEqual([expect.stringMatching(/^warning: .*: mntr not allowed$/)]);
    expect(of(told, 'quorum')[0]).toMatch(/^warning: .* is alone$/);
  });
});

describe('this machine', () => {
  it('whose clock differs from that of the ensemble is told', async () => {
    const shift = 'const now = Date.now; Date.now = () => now() + 3_600_000;';
    const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` };
    const told = await doctor(ensemble.connectString, ['--driver', 'wire'], env);
    expect(of(told, 'clock_skew')[0]).toMatch(/^warning: the clock of the ensemble's leader is 60 min behind ours/);
  });
});

describe('elections', () => {
  it('with a ghost, a stranger in the queue, or an unreadable record are told', async () => {
    const root = fresh();
    await using operator = await Operator.at(ensemble.connectString, { root, sessionTimeoutMs: T });
    const nothing = new Uint8Array();
    for (const path of ['', '/haunted', '/haunted/queue', '/torn']) {
      await operator.session.create(root + path, nothing, 'persistent');
    }
    const ghost = '_c_6f1c7f0e-6a0b-4c55-9a57-1f1a8a4f3c11-lock-0000000000';
    await operator.session.create(`${operator.queuePath('haunted')}/${ghost}`, nothing, 'persistent');
    await operator.session.create(`${operator.queuePath('haunted')}/README`, nothing, 'persistent');
    await operator.session.create(operator.termPath('torn'), Buffer.from('{"v":1,'), 'persistent');
    const told = await doctor(ensemble.connectString, ['--root', root, '--driver', 'wire']);
    expect(told).toMatchObject({ code: 1, worst: 'error' });
    expect(of(told, 'orphans')).toEqual([
      expect.stringMatching(/^error: "haunted": candidate .*_c_6f1c7f0e.* is no ephemeral znode/),
      'notice: "haunted": README lies in the queue and is no candidate',
    ]);
    expect(told.findings.find(({ check }) => check === 'orphans')?.fix).toBe(`tenure evict haunted ${ghost}`);
    expect(of(told, 'records')).toEqual([expect.stringMatching(/^error: "torn": the term record .* can't be read/)]);
  });

  it('of a process that is gone from this machine are told while its session lasts', async () => {
    const root = fresh();
    await using operator = await Operator.at(ensemble.connectString, { root, sessionTimeoutMs: T });
    await using contender = await Contender.enter(ensemble.connectString, 'left', 'worker-9', {
      root,
      sessionTimeoutMs: T,
    });
    await contender.leading();
    const [standing] = await operator.queue('left');
    const path = `${operator.queuePath('left')}/${standing?.node}`;
    const found = await operator.session.read(path);
    const data = JSON.parse(Buffer.from(found?.data ?? []).toString());
    // Beyond the highest process number that Linux gives.
    await operator.session.write(path, Buffer.from(JSON.stringify({ ...data, pid: 2 ** 22 + 1 })), -1);
    const told = await doctor(ensemble.connectString, ['--root', root, '--driver', 'wire']);
    expect(of(told, 'orphans')[0]).toMatch(
      /^notice: "left": candidate "worker-9" .* says that it runs on this machine/,
    );
  });
});

describe('rights', () => {
  it('that are missing are an error, and those that are there are told', async () => {
    const root = fresh();
    const ops = { TENURE_AUTH: 'digest:ops:secret', TENURE_SERVERS: ensemble.connectString };
    const lead = ['run', '--election', 'kept', '--root', root, '--acl', 'auth::cdrwa', '--', 'true'];
    expect(await invoke(lead, ops)).toMatchObject({ code: 0 });
    const shut = await doctor(ensemble.connectString, ['--root', root, '--driver', 'wire']);
    expect(shut.code).toBe(1);
    expect(of(shut, 'access')).toEqual([`error: ${root}: we may not read, create`]);
    const open = await doctor(ensemble.connectString, ['--root', root, '--driver', 'wire'], ops);
    expect(open.code).toBe(0);
    expect(of(open, 'access')).toEqual([`ok: ${root}: we may read, create, write and delete`]);
    expect(of(open, 'acl')).toEqual([expect.stringMatching(/^ok: .* is kept to digest:ops:/)]);
  });
});

it('ends with its own code where no server is', async () => {
  const told = await doctor('localhost:1', ['--driver', 'wire']);
  expect(told).toMatchObject({ code: 5, worst: 'error' });
  const unknown = await doctor('no.such.host.invalid', ['--driver', 'wire']);
  expect(unknown.code).toBe(5);
  expect(of(unknown, 'reachability')[0]).toMatch(
    /^error: no.such.host.invalid:2181 grants no session: .*(ENOTFOUND|EAI_AGAIN|no answer)/,
  );
});
