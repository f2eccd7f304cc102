import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import type { SessionState } from '../../../src/election/port.js';
import type { NativeSession } from '../../../src/zookeeper/native/session.js';
import { nextState } from '../../support/driver-tests.js';
import { Relay } from './relay.js';
import { bytes, closeAll, freshPath, kindOf, type Overrides, open } from './support.js';

/*
 * An operation whose own attempt to send finds the connection reset makes the C client close its socket outside of its
 * loop: without a new client at once, libuv aborts this process. Each test here would end in that.
 */

let ensemble: Ensemble;
let server: ZooKeeperServer;
let other: NativeSession;
let relay: Relay;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500 });
  server = ensemble.servers[0] as ZooKeeperServer;
  other = await open(ensemble.connectString);
  relay = await Relay.listen({ port: 0, targetPort: server.clientPort });
});

afterAll(async () => {
  await closeAll();
  await relay?.close();
  await ensemble?.close();
});

const openBehindRelay = (options?: Overrides): Promise<NativeSession> => open(`127.0.0.1:${relay.port}`, options);

/** Drops the connection and has operations run into it, in the turn of a reply: nothing has noticed yet. */
async function runIntoReset(session: NativeSession, count = 3): Promise<string[]> {
  await session.stat('/');
  relay.drop();
  return Promise.all(Array.from({ length: count }, () => kindOf(session.write('/', bytes('')))));
}

it('the session goes on, with its id, its ephemerals and the states of any reconnect', async () => {
  const session = await openBehindRelay();
  const path = freshPath();
  await session.create(path, bytes(''), 'ephemeral');
  const { id, password } = session;
  for (let round = 0; round < 5; round += 1) {
    const states: SessionState[] = [];
    const cancel = session.onState((state) => states.push(state));
    expect(await runIntoReset(session)).toEqual(['connection_lost', 'connection_lost', 'connection_lost']);
    await nextState(session, 'connected');
    expect(states).toEqual(['disconnected', 'connected']);
    expect([session.id, session.password]).toEqual([id, password]);
    expect((await session.stat(path))?.owner).toBe(id);
    cancel();
  }
  await session.close();
  await waitFor(async () => (await other.stat(path)) === null, { what: 'the ephemeral to go' });
});

it('the loss is told first, then the operations under way fail one by one', async () => {
  const session = await openBehindRelay();
  const log: string[] = [];
  const expected = Array.from({ length: 20 }, (_, i) => `failed ${i}`);
  session.onState((state) => log.push(state));
  const fail = async (entry: string, reactions: number): Promise<void> => {
    for (let i = 0; i < reactions; i += 1) await null;
    log.push(entry);
  };
  await session.stat('/');
  // The later, the fewer reactions: had two of them failed in one go, the second would be logged first.
  const under = expected.map((entry, i) => session.stat('/').catch(() => fail(entry, 100 - 5 * i)));
  relay.drop();
  const last = [kindOf(session.stat('/')), kindOf(session.stat('/'))];
  await Promise.all([...under, ...last]);
  expect(log).toEqual(['disconnected', ...expected]);
  await nextState(session, 'connected');
  await session.close();
});

it('operations called meanwhile settle, and none reads before a write was confirmed', async () => {
  const session = await openBehindRelay();
  await runIntoReset(session);
  const meanwhile: Promise<string>[] = [];
  while (session.state !== 'connected') {
    meanwhile.push(kindOf(session.read('/')));
    await new Promise(setImmediate);
  }
  expect(new Set(await Promise.all(meanwhile))).toEqual(new Set(['connection_lost']));
  expect(await kindOf(session.read('/'))).toBe('success');
  await session.close();
});

it('every watch that was left fires, once, after the session is back', async () => {
  const session = await openBehindRelay();
  const [changed, quiet, absent, parent] = [freshPath(), freshPath(), freshPath(), freshPath()] as const;
  for (const path of [changed, quiet, parent]) await other.create(path, bytes(''), 'persistent');
  const log: string[] = [];
  for (const path of [changed, quiet, absent, parent]) {
    session.onNode(path, (change) => log.push(`${path} ${change} ${session.state}`));
  }
  await session.read(changed, { watch: true });
  await session.read(quiet, { watch: true });
  await session.stat(absent, { watch: true });
  await session.children(parent, { watch: true });
  await session.read(parent);
  const lost = runIntoReset(session);
  await other.write(changed, bytes('1'));
  await lost;
  await nextState(session, 'connected');
  await session.sync('/');
  expect(log.sort()).toEqual(
    [
      `${changed} changed connected`,
      `${quiet} changed connected`,
      `${absent} changed connected`,
      `${parent} children connected`,
    ].sort(),
  );
  await other.write(quiet, bytes('2'));
  await session.sync('/');
  expect(log).toHaveLength(4);
  await session.read(quiet, { watch: true });
  await other.write(quiet, bytes('3'));
  await session.sync('/');
  expect(log).toHaveLength(5);
  for (const path of [changed, quiet, parent]) await other.remove(path);
  await session.close();
});

it('the credentials stay in force', async () => {
  const auth = [{ scheme: 'digest', credential: 'user:password' }];
  const session = await openBehindRelay({ auth });
  await runIntoReset(session);
  await nextState(session, 'connected');
  expect(await kindOf(session.stat('/'))).toBe('success');
  await session.close();
});

it('a session that ends meanwhile has expired, and no other takes its place', async () => {
  const session = await openBehindRelay({ sessionTimeoutMs: 1000 });
  const path = freshPath();
  await session.create(path, bytes(''), 'ephemeral');
  const { id } = session;
  await runIntoReset(session);
  await relay.close();
  await waitFor(async () => (await other.stat(path)) === null, { what: 'the ensemble to expire the session' });
  expect(session.state).toBe('disconnected');
  const asked = kindOf(session.stat('/'));
  relay = await Relay.listen({ port: relay.port, targetPort: server.clientPort });
  await nextState(session, 'expired');
  expect(session.id).toBe(id);
  expect(await asked).toBe('connection_lost');
  expect(await kindOf(session.stat('/'))).toBe('session_expired');
  await session.close();
});

it('closing in that very turn ends well', async () => {
  const session = await openBehindRelay();
  await session.stat('/');
  relay.drop();
  const kind = kindOf(session.write('/', bytes('')));
  await session.close();
  expect(['connection_lost', 'session_closed']).toContain(await kind);
});
