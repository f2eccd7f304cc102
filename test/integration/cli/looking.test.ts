import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSource } from '../../../bench/compiled.js';
import { type Ensemble, startEnsemble } from '../../../deploy/local/index.js';
import { Lines } from '../../../src/verify/lines.js';
import { Contender } from '../../support/contender.js';
import { Invocation, invoke } from '../../support/invocation.js';
import { Operator } from '../../support/operator.js';
import { outcome } from '../../support/tools.js';

/* status, leader and watch against a real server, and what any command does with bad input and a server that is away. */

const T = 4_000;

let ensemble: Ensemble;
let operator: Operator;
let folder: string;
const lines = new Lines();
let names = 0;
const fresh = (): string => `looking-${++names}`;
const enter = (name: string, id: string, metadata = {}): Promise<Contender> =>
  Contender.enter(ensemble.connectString, name, id, { sessionTimeoutMs: T, election: { metadata } });
const at = (): NodeJS.ProcessEnv => ({ TENURE_SERVERS: ensemble.connectString });

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 200, fsync: false });
  operator = await Operator.at(ensemble.connectString, { sessionTimeoutMs: T });
  folder = mkdtempSync(join(tmpdir(), 'tenure-cli-'));
}, 120_000);

afterAll(async () => {
  await operator?.close();
  await lines.close();
  await ensemble?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

describe('status', () => {
  it('shows one election with its queue, for people and for programs, and creates nothing', async () => {
    const name = `${fresh()}/deep/shard-1`;
    await using first = await enter(name, 'first', { zone: 'a' });
    const term = await first.leading();
    await using second = await enter(name, 'second');
    await second.joined();
    const text = await invoke(['status', name], at());
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toMatch(/^leader +first$/m);
    expect(text.out).toMatch(new RegExp(`^token +${term.token}$`, 'm'));
    expect(text.out).toMatch(/^\* +first .*\n2 +second /m);
    // Not a terminal: no colours, whatever TERM says.
    expect(text.out).not.toContain('\u001b');
    const json = await invoke(['status', name, '--json'], at());
    expect(JSON.parse(json.out)).toMatchObject({
      election: name,
      state: 'led',
      term: 1,
      leader: { id: 'first', token: String(term.token), metadata: { zone: 'a' } },
      candidates: [{ id: 'first' }, { id: 'second' }],
    });
    const nowhere = fresh();
    expect((await invoke(['status', nowhere], at())).out).toContain('nobody stands in the queue');
    expect(await operator.session.stat(`/tenure/${nowhere}`)).toBeNull();
  });

  it('shows all elections below the root, led or not, and nothing else that lies there', async () => {
    const root = `/all-${fresh()}`;
    const names = ['alone', 'a/b', 'a/b/c'];
    const inside = await Promise.all(
      names.map((name) => Contender.enter(ensemble.connectString, name, `of ${name}`, { root, sessionTimeoutMs: T })),
    );
    await Promise.all(inside.map((contender) => contender.leading()));
    await inside[0]?.stop();
    await operator.session.create(`${root}/stranger`, new Uint8Array(), 'persistent');
    const json = await invoke(['status', '--root', root, '--json'], at());
    const { elections } = JSON.parse(json.out) as { elections: { election: string; state: string }[] };
    expect(elections.map(({ election, state }) => `${election} ${state}`)).toEqual([
      'a/b led',
      'a/b/c led',
      'alone vacant',
    ]);
    const text = await invoke(['--root', root, 'status'], at());
    expect(
      text.out
        .split('\n')
        .slice(1, 4)
        .map((line) => line.split(/ {2,}/).slice(0, 3)),
    ).toEqual([
      ['a/b', 'led', 'of a/b'],
      ['a/b/c', 'led', 'of a/b/c'],
      ['alone', 'vacant', '-'],
    ]);
    await Promise.all(inside.slice(1).map((contender) => contender.stop()));
    const empty = await invoke(['status', '--root', '/nothing/here'], at());
    expect(empty).toMatchObject({ code: 0, out: 'no elections below /nothing/here\n' });
  });

  it('of all shows one that has an unreadable record beside the others', async () => {
    const root = `/torn-${fresh()}`;
    const nothing = new Uint8Array();
    for (const path of ['', '/good', '/torn']) await operator.session.create(root + path, nothing, 'persistent');
    await operator.session.create(`${root}/good/queue`, nothing, 'persistent');
    await operator.session.create(`${root}/torn/term`, Buffer.from('{'), 'persistent');
    const { code, out } = await invoke(['status', '--root', root, '--json'], at());
    expect(code).toBe(0);
    expect(JSON.parse(out).elections).toMatchObject([
      { election: 'good', state: 'vacant' },
      { election: 'torn', state: 'unreadable', error: { code: 'TERM_RECORD_UNREADABLE' } },
    ]);
    expect((await invoke(['status', '--root', root], at())).out).toMatch(/^torn +unreadable /m);
    const all = new Invocation(['watch', '--root', root, '--json'], at());
    await all.says(/"unreadable"/);
    expect(JSON.parse((await all.says(/"good"/))[0] ?? '')).toMatchObject({ change: 'present' });
    await operator.session.create(`${root}/new`, nothing, 'persistent');
    await operator.session.create(`${root}/new/queue`, nothing, 'persistent');
    await all.says(/"election":"new"/);
    all.signal('SIGTERM');
    expect(await all.exited).toBe(0);
    // Named, it is an error.
    const named = await invoke(['watch', 'torn', '--root', root], at());
    expect(named).toMatchObject({ code: 1, err: expect.stringContaining('[TERM_RECORD_UNREADABLE]') });
  });

  it('fails where what it has to say can not be written', async () => {
    // The shell gives it a device that is always full.
    const main = join(compileSource(), 'cli/main.js');
    const run = (words: string) => outcome('bash', ['-c', `"${process.execPath}" "${main}" ${words} >/dev/full`]);
    for (const words of ['--version', `status -s ${ensemble.connectString}`]) {
      expect(await run(words)).toMatchObject({ code: 1, all: expect.stringContaining('[ENOSPC]') });
    }
  });

  it('is not misled by what a stranger writes into a queue', async () => {
    const name = fresh();
    await using contender = await enter(name, 'evil\u001b[2J\nsecond line');
    await contender.leading();
    const text = await invoke(['status', name], at());
    expect(text.out).not.toContain('\u001b');
    expect(text.out).toContain('evil�[2J�second line');
    expect((await invoke(['leader', name], at())).out).toBe('evil�[2J�second line\n');
  });
});

describe('leader', () => {
  it('prints the id and nothing else, or ends with its own code', async () => {
    const name = fresh();
    expect(await invoke(['leader', name], at())).toEqual({ code: 3, out: '', err: '' });
    expect(JSON.parse((await invoke(['leader', name, '--json'], at())).out)).toEqual({
      election: name,
      state: 'vacant',
      leader: null,
    });
    const waiting = new Invocation(['leader', name, '--wait', '60s'], at());
    await using contender = await enter(name, 'me');
    const term = await contender.leading();
    expect(await waiting.exited).toBe(0);
    expect(waiting.out).toBe('me\n');
    expect((await invoke(['leader', '--token', name], at())).out).toBe(`${term.token}\n`);
  });

  it('gives up waiting in time', async () => {
    const { code, out, err } = await invoke(['leader', fresh(), '--wait', '300ms'], at());
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toMatch(/^tenure: nobody led .* within 300 ms \[NO_LEADER_IN_TIME\]\n$/);
  });
});

describe('watch', () => {
  it('tells how it stands, then each change, and ends cleanly when it is told to', async () => {
    const name = fresh();
    await using first = await enter(name, 'first');
    await first.leading();
    const text = new Invocation(['watch', name], at());
    const json = new Invocation(['watch', name, '--json'], at());
    await Promise.all([text.says(/first leads, term 1/), json.says(/"change":"present"/)]);
    await using second = await enter(name, 'second');
    await text.says(/second joined the queue \(2 in it\)/);
    await first.stop();
    await second.leading();
    await text.says(/second leads, term 2/);
    await json.says(/"change":"elected"/);
    text.signal('SIGINT');
    json.signal('SIGTERM');
    expect(await Promise.all([text.exited, json.exited])).toEqual([0, 0]);
    for (const line of text.lines) expect(line).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z ${name}: `));
    const told = json.lines.map(
      (line) => JSON.parse(line) as { change: string; election: string; leader?: { token: unknown } },
    );
    expect(told.every(({ election }) => election === name)).toBe(true);
    expect(told.map(({ change }) => change)).toContain('joined');
    expect(typeof told.find(({ change }) => change === 'elected')?.leader?.token).toBe('string');
    expect(text.err + json.err).toBe('');
  });

  it('ends without a word when its reader has gone', async () => {
    const name = fresh();
    const watch = new Invocation(['watch', name, fresh()], at());
    await watch.says(/nobody leads/, 2);
    watch.closeOutput();
    await using contender = await enter(name, 'late');
    await contender.leading();
    expect(await watch.exited).toBe(0);
    expect(watch.err).toBe('');
  });

  it('says when it is out of touch, and goes on afterwards', async () => {
    const name = fresh();
    const [server] = ensemble.servers;
    if (server === undefined) throw new Error('no server');
    const line = await lines.to(server);
    const watch = new Invocation(['watch', name, '--session-timeout', `${T}ms`], { TENURE_SERVERS: line.address });
    await watch.says(/nobody leads/);
    await line.drop();
    await watch.says(/out of reach/);
    await using contender = await enter(name, 'after');
    await contender.leading();
    await watch.says(/after leads/);
    watch.signal('SIGTERM');
    expect(await watch.exited).toBe(0);
  });
});

describe('bad input', () => {
  it.each([
    [['statsu'], 2, /there is no command "statsu"\n +did you mean status\?/],
    [['status', '--severs', 'x'], 2, /status has no option --severs\n +did you mean --servers\?/],
    [['leader'], 2, /leader needs ELECTION/],
    [['leader', 'a', 'b'], 2, /leader can't do anything with "b"/],
    [['status', 'a//b'], 2, /empty segment.*\[INVALID_ELECTION_NAME\]/],
    [['status', '--servers', 'http://zk1'], 2, /looks like a URL.*\[INVALID_OPTION\]/],
    [['status', '--root', 'tenure'], 2, /root "tenure" must be an absolute path/],
    [['status', '--session-timeout', '5'], 2, /--session-timeout "5" must be a number with a unit/],
    [['status', '--auth-file', '/nowhere/at/all'], 2, /--auth-file "\/nowhere\/at\/all" can't be read/],
    [['status', '--driver', 'native', '--tls'], 2, /tls needs driver: 'wire'/],
    [['status', '--acl', 'everybody'], 2, /--acl: "everybody" must be scheme:id:permissions/],
    [['--quiet'], 2, /no command is given/],
  ] as const)('is one clear line with the fix: %j', async (words, code, message) => {
    const ending = await invoke(words, at());
    expect(ending).toMatchObject({ code, out: '' });
    expect(ending.err).toMatch(message);
    expect(ending.err.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  });

  it('is JSON where that was asked for', async () => {
    const { code, out, err } = await invoke(['leader', '--json', '--wiat', '1s'], at());
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(JSON.parse(err)).toEqual({
      error: {
        code: 'USAGE',
        message: 'leader has no option --wiat',
        retriable: false,
        exitCode: 2,
        hint: 'did you mean --wait?',
      },
    });
  });

  it('of a file with credentials never shows them, and a file that others may read is told', async () => {
    const file = join(folder, 'auth');
    writeFileSync(file, '# ours\n\ntopsecret\n', { mode: 0o600 });
    const bad = await invoke(['status', '--auth-file', file], at());
    expect(bad.code).toBe(2);
    expect(bad.err).toContain(`${file}, line 3: a credential is scheme:secret`);
    expect(bad.err).not.toContain('topsecret');
    writeFileSync(file, 'digest:ops:topsecret\n');
    chmodSync(file, 0o644);
    const open = await invoke(['status', fresh(), '--auth-file', file], at());
    expect(open.code).toBe(0);
    expect(open.err).toContain('chmod 600');
    const env = await invoke(['status', fresh()], { ...at(), TENURE_AUTH: 'topsecret' });
    expect(env).toMatchObject({ code: 2, err: expect.stringContaining('TENURE_AUTH: a credential is scheme:secret') });
    expect(env.err).not.toContain('topsecret');
  });
});

describe('credentials and ACLs', () => {
  it('open what an ACL keeps to them, and without them it ends with its own code', async () => {
    const root = `/kept-${fresh()}`;
    const file = join(folder, 'ops');
    writeFileSync(file, 'digest:ops:topsecret\n', { mode: 0o600 });
    const auth = ['--auth-file', file, '--root', root, '--driver', 'wire'];
    const election = fresh();
    const lead = ['run', '--election', election, ...auth, '--acl', 'auth::cdrwa', '--', 'true'];
    expect(await invoke(lead, at())).toMatchObject({ code: 0 });
    const shut = await invoke(['status', election, '--root', root], at());
    expect(shut).toMatchObject({ code: 6, out: '' });
    expect(shut.err).toContain('no auth');
    const open = await invoke(['status', election, ...auth, '--json'], at());
    expect(JSON.parse(open.out)).toMatchObject({ election, term: 1 });
  });
});

describe('servers that are away', () => {
  it('end a command with its own code, by name of what is wrong', async () => {
    const refused = await invoke(['status', '-s', 'localhost:1', '--connect-timeout', '4s']);
    expect(refused).toMatchObject({ code: 5, out: '' });
    expect(refused.err).toMatch(
      /^tenure: no session with localhost:1 within 4000 ms: .*refuses connections \[CONNECT_TIMEOUT\]\n$/,
    );
    const unknown = await invoke(['leader', 'x', '-s', 'no.such.host.invalid', '--json']);
    expect(unknown.code).toBe(5);
    expect(JSON.parse(unknown.err)).toMatchObject({
      error: { code: 'NAME_RESOLUTION_FAILED', retriable: true, exitCode: 5 },
    });
  });

  it('show a stack with --log-level debug only', async () => {
    const { code, err } = await invoke(['status', 'a//b', '--log-level', 'debug'], at());
    expect(code).toBe(2);
    expect(err).toMatch(/\n {4}at /);
  });

  it('can be waited for no longer than one has patience', async () => {
    const waiting = new Invocation(['status', '-s', 'localhost:1', '--connect-timeout', '60s']);
    setTimeout(() => waiting.signal('SIGINT'), 1_500);
    expect(await waiting.exited).toBe(130);
    expect(waiting.err).toBe('');
  });
});

it('prints help and version on standard output', async () => {
  const [all, one, topic, version] = await Promise.all([
    invoke([]),
    invoke(['watch', '--help']),
    invoke(['help', 'watch']),
    invoke(['--version']),
  ]);
  expect(all).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Commands:') });
  expect(one).toEqual(topic);
  expect(one.out).toContain('Usage: tenure watch [OPTIONS] [ELECTION…]');
  expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
});
