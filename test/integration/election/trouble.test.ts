import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import {
  AuthenticationError,
  CandidateTooLargeError,
  ConnectTimeoutError,
  connect,
  InvalidElectionNameError,
  InvalidOptionError,
  NameResolutionError,
  type Tenure,
  TermRecordError,
  TokenRegressedError,
} from '../../../src/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { Contender } from '../../support/contender.js';
import { Operator } from '../../support/operator.js';

/*
 * Bad input and bad luck: each has an error that says what to do, and none crashes the process, hangs or leaves a candidate
 * behind. From the field: 11 (what observers are told), 14 (an election that never contends again), 18 (never told of the loss).
 */

let ensemble: Ensemble;
let operator: Operator;
let tenure: Tenure;
let count = 0;
const fresh = (): string => {
  count += 1;
  return `trouble-${count}`;
};

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 500, fsync: false });
  operator = await Operator.at(ensemble.connectString);
  tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 4_000 });
});

afterAll(async () => {
  await tenure?.close();
  await operator?.close();
  await ensemble?.close();
});

describe.concurrent('connecting', () => {
  it.each([
    ['', 'no servers'],
    ['zk1:2181,', 'empty'],
    ['zk1:port', 'a port is a number'],
    ['http://zk1:2181', 'URL'],
    ['zk1:2181/a//b', 'empty segment'],
    ['300.1.1.1', 'not an IPv4 address'],
  ])('to %j is refused with the cure', async (servers, says) => {
    const failure = connect({ servers });
    await expect(failure).rejects.toThrow(InvalidOptionError);
    await expect(failure).rejects.toThrow(says);
  });

  it('to a misspelt host says which name has no address', async () => {
    const failure = connect({ servers: 'no-such-host.invalid:2181', connectTimeoutMs: 8_000 });
    await expect(failure).rejects.toThrow(NameResolutionError);
    await expect(failure).rejects.toThrow('no-such-host.invalid');
  });

  it('to servers that are not there ends at the deadline, and at an abort before it', async () => {
    const failure = connect({ servers: '127.0.0.1:1,127.0.0.1:2', connectTimeoutMs: 400 });
    await expect(failure).rejects.toThrow(ConnectTimeoutError);
    const signal = AbortSignal.timeout(50);
    const begin = monotonicMs();
    await expect(connect({ servers: '127.0.0.1:1', connectTimeoutMs: 20_000, signal })).rejects.toHaveProperty(
      'name',
      'TimeoutError',
    );
    expect(monotonicMs() - begin).toBeLessThan(10_000);
  });

  it('with one server of two misspelt uses the other', async () => {
    const [server] = ensemble.servers as [ZooKeeperServer];
    const servers = `no-such-host.invalid:2181,${server.address}`;
    const own = await connect({ servers });
    await (await own.election(fresh()).campaign()).resign();
    await own.close();
  });

  it('with credentials of an unknown scheme is refused; with a digest it works', async () => {
    const servers = ensemble.connectString;
    const failure = connect({ servers, auth: [{ scheme: 'no-such-scheme', credential: 'secret' }] });
    await expect(failure).rejects.toThrow(AuthenticationError);
    await expect(failure).rejects.not.toThrow('secret');
    const own = await connect({ servers, auth: [{ scheme: 'digest', credential: 'user:secret' }] });
    await (await own.election(fresh()).campaign()).resign();
    await own.close();
  });

  it.each([
    { asked: 100, granted: 1_000 },
    { asked: 600_000, granted: 10_000 },
  ])('with a session timeout of $asked ms uses what is granted, and says so', async ({ asked, granted }) => {
    const warnings: string[] = [];
    const quiet = (): void => {};
    const warn = (_: object, message: string): void => void warnings.push(message);
    const logger = { debug: quiet, info: quiet, error: quiet, warn };
    const leaseMs = Math.floor(asked * 0.9);
    const own = await connect({ servers: ensemble.connectString, sessionTimeoutMs: asked, leaseMs, logger });
    expect(own.session).toMatchObject({ timeoutMs: granted, leaseMs: Math.min(leaseMs, granted * 0.9) });
    expect(warnings.join()).toContain(`${granted} ms instead of ${asked}`);
    await own.close();
  });
});

describe.concurrent('names and data', () => {
  it.each([
    '',
    '/a',
    'a/',
    'a//b',
    'a/../b',
    '.',
    'a/queue',
    'term',
    'sessions',
    'a\u0000b',
    'a\nb',
    '\ud800',
    'x'.repeat(257),
  ])('the name %j is refused', (name) => {
    expect(() => tenure.election(name)).toThrow(InvalidElectionNameError);
  });

  it('an id or metadata that are too large, or no JSON, are refused before anything happens', async () => {
    const name = fresh();
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const options of [{ id: 'x'.repeat(9_000) }, { metadata: { text: '\u4e2d'.repeat(3_000) } }]) {
      expect(() => tenure.election(name, options)).toThrow(CandidateTooLargeError);
    }
    for (const metadata of [circular, { big: 1n }]) {
      expect(() => tenure.election(name, { metadata })).toThrow(InvalidOptionError);
    }
    expect(() => tenure.election(name, { id: '' })).toThrow(InvalidOptionError);
    await operator.queueOf(name, 0);
    const term = await tenure
      .election(name, { id: '\u4e2d\ud83d\ude00', metadata: { text: 'x'.repeat(7_000) } })
      .campaign();
    expect(term.leaderId).toBe('\u4e2d\ud83d\ude00');
    await term.update({ shorter: true });
    expect((await tenure.election(name).current()).leader?.metadata).toEqual({ shorter: true });
    await expect(term.update({ far: 'x'.repeat(2 ** 21) })).rejects.toThrow();
    expect(() => term.assert()).not.toThrow();
    await term.resign();
  });

  it.each([
    ['binary data', Buffer.from([0, 1, 254, 255])],
    ['another format', Buffer.from('{"leader":"me"}')],
    ['a newer version', Buffer.from('{"v":2,"term":1}')],
    ['half a record', Buffer.from('{"v":1,"term":3,"token":"12"')],
  ])(
    '%s in the term record ends campaigns with the cure, the present leader too, and leaves nobody',
    async (_, data) => {
      const name = fresh();
      const leader = await Contender.enter(ensemble.connectString, name, 'leader', { sessionTimeoutMs: 4_000 });
      const term = await leader.leading();
      const waiting = tenure.election(name).campaign();
      const told = expect(waiting).rejects.toThrow(TermRecordError);
      await operator.queueOf(name, 2);
      await operator.session.write(operator.termPath(name), data, -1);
      expect(await leader.lost(term)).toBe('superseded');
      const failure = await leader.outcome;
      expect(failure).toBeInstanceOf(TermRecordError);
      expect((failure as Error).message).toContain(operator.termPath(name));
      await told;
      await expect(tenure.election(name).current()).rejects.toThrow(TermRecordError);
      await operator.queueOf(name, 0);
      await operator.remove(operator.termPath(name));
      await (await tenure.election(name).campaign()).resign();
      await leader.stop();
    },
  );

  it('a record with a token above ours, as after a restore, opens no term and does not retry', async () => {
    const name = fresh();
    await (await tenure.election(name).campaign()).resign();
    const record = await operator.record(name);
    const restored = { ...record, token: (2n ** 62n).toString() };
    await operator.session.write(operator.termPath(name), Buffer.from(JSON.stringify(restored)), -1);
    const failure = tenure.election(name).lead(() => 'never');
    await expect(failure).rejects.toThrow(TokenRegressedError);
    await expect(failure).rejects.toThrow('fence raise');
    await operator.queueOf(name, 0);
  });

  it('a paused election is led by nobody until it is resumed', async () => {
    const name = fresh();
    const contender = await Contender.enter(ensemble.connectString, name, 'one', { sessionTimeoutMs: 4_000 });
    const term = await contender.leading();
    const pause = { by: 'test', at: new Date().toISOString(), reason: 'to see' };
    const change = async (fields: object): Promise<void> => {
      const record = { ...(await operator.record(name)), ...fields };
      await operator.session.write(operator.termPath(name), Buffer.from(JSON.stringify(record)), -1);
    };
    await change({ pause });
    expect(await contender.lost(term)).toBe('paused');
    await contender.joined(2);
    await sleep(300);
    expect(contender.leads).toBe(false);
    expect(await contender.election.current()).toMatchObject({ state: 'paused', paused: pause, leader: null });
    await change({ pause: null });
    const again = await contender.leading(2);
    expect(again.previous).toMatchObject({ term: 1, end: 'paused' });
    await contender.stop();
  });
});

describe.concurrent('an observer', () => {
  it('is told of vacancies too, and of every leader and no other, in order (11)', async () => {
    const name = fresh();
    const stop = new AbortController();
    const seen: (string | null)[] = [];
    const terms: number[] = [];
    const observing = (async () => {
      for await (const view of tenure.election(name).observe({ signal: stop.signal })) {
        seen.push(view.leader?.id ?? null);
        if (view.leader?.term != null) terms.push(view.leader.term);
      }
    })().catch((error: unknown) => error);
    // The first view comes at once, though nobody leads and nothing is there.
    await waitFor(() => seen.length === 1, { what: 'the first view' });
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) {
      const term = await tenure.election(name, { id }).campaign();
      await waitFor(() => seen.at(-1) === id, { what: `${id} to be seen` });
      await term.resign();
    }
    await waitFor(() => seen.at(-1) === null, { what: 'the last vacancy' });
    stop.abort(new Error('enough'));
    expect(await observing).toBe(stop.signal.reason);
    expect([...new Set(terms)]).toEqual([1, 2, 3, 4, 5]);
    expect(seen[0]).toBeNull();
    expect(seen.filter((id, index) => id !== null && id !== seen[index - 1])).toEqual(ids);
  });

  it('shows no leader while the first candidate has not claimed, whatever the record says of the last (11)', async () => {
    const name = fresh();
    await (await tenure.election(name, { id: 'was' }).campaign()).resign();
    // Somebody of ours stands first and does not claim.
    const sleeper = Buffer.from(JSON.stringify({ v: 1, id: 'sleeper', host: 'h', pid: 1, metadata: {}, joinedAt: '' }));
    const path = `${operator.queuePath(name)}/_c_00000000-0000-4000-8000-000000000000-lock-`;
    const node = await operator.session.create(path, sleeper, 'ephemeral_sequential');
    const view = await tenure.election(name).current();
    expect(view).toMatchObject({ state: 'vacant', leader: null, term: 1 });
    expect(view.candidates.map(({ id }) => id)).toEqual(['sleeper']);
    await operator.remove(node);
  });
});
