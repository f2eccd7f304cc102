import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import type { SessionState } from '../../../src/election/port.js';
import type { NativeSession } from '../../../src/zookeeper/native/session.js';
import { nextState } from '../../support/driver-tests.js';
import { bytes, closeAll, endSession, freshPath, kindOf, open, sleep } from './support.js';

let ensemble: Ensemble;
let observer: NativeSession;

beforeAll(async () => {
  // Long sessions for those that shall outlive a restart of servers, however long that takes on a busy machine.
  ensemble = await startEnsemble({ size: 3, tickTime: 500, fsync: false, extraConfig: ['maxSessionTimeout=30000'] });
  observer = await open(ensemble.connectString, { sessionTimeoutMs: 30_000 });
});

// Whatever a test did to the servers, and however it ended.
afterEach(async () => {
  await ensemble.restore();
  await nextState(observer, 'connected');
});

afterAll(async () => {
  await closeAll();
  await ensemble?.close();
});

/** The server that holds the session's connection. */
async function serverOf(session: NativeSession): Promise<ZooKeeperServer> {
  const sid = `sid=0x${session.id.replace(/^0+/, '')}`;
  for (const server of ensemble.servers) if ((await server.ask('cons')).includes(sid)) return server;
  throw new Error(`no server has ${sid}`);
}

/** One call of each operation. */
const everyOperation = (session: NativeSession): Promise<unknown>[] => [
  session.create('/x', bytes(''), 'ephemeral'),
  session.remove('/x'),
  session.write('/x', bytes('')),
  session.read('/x'),
  session.stat('/x'),
  session.children('/x'),
  session.sync('/x'),
];

describe('close', () => {
  it('ends the session: its ephemerals go at once', async () => {
    const session = await open(ensemble.connectString);
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    const begin = performance.now();
    await session.close();
    expect(session.state).toBe('closed');
    await waitFor(async () => (await observer.stat(path)) === null, { what: 'the ephemeral to go', intervalMs: 5 });
    expect(performance.now() - begin).toBeLessThan(1000);
  });

  it('settles every operation under way and every later one, and calls nobody afterwards', async () => {
    const session = await open(ensemble.connectString);
    const path = freshPath();
    const calls: string[] = [];
    await observer.create(path, bytes(''), 'ephemeral');
    session.onState((state) => calls.push(state));
    session.onNode(path, (change) => calls.push(change));
    await session.read(path, { watch: true });
    const pending = everyOperation(session).map(kindOf);
    const closing = session.close();
    expect(session.state).toBe('closed');
    const later = everyOperation(session).map(kindOf);
    expect(session.close()).toBe(closing);
    await closing;
    expect(new Set(await Promise.all(pending))).toEqual(new Set(['session_closed']));
    expect(new Set(await Promise.all(later))).toEqual(new Set(['session_closed']));
    expect(new Set(await Promise.all(everyOperation(session).map(kindOf)))).toEqual(new Set(['session_closed']));
    expect(calls).toEqual(['closed']);
    await observer.write(path, bytes('1'));
    await observer.remove(path);
    await sleep(100);
    expect(calls).toEqual(['closed']);
  });

  it('sends what was called before it', async () => {
    const session = await open(ensemble.connectString);
    const path = freshPath();
    const created = session.create(path, bytes(''), 'persistent').catch(() => {});
    await session.close();
    await created;
    await observer.sync(path);
    expect(await observer.stat(path)).not.toBeNull();
    await observer.remove(path);
  });

  it('while disconnected waits a little for a server, and ends the session there', async () => {
    const session = await open(ensemble.connectString);
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    const server = await serverOf(session);
    const down = nextState(session, 'disconnected');
    await server.kill();
    await down;
    const begin = performance.now();
    await session.close();
    expect(performance.now() - begin).toBeLessThan(1500);
    await waitFor(async () => (await observer.stat(path).catch(() => true)) === null, { what: 'the ephemeral to go' });
  });
});

describe('a session', () => {
  it('goes on at another server when its own is killed', async () => {
    const session = await open(ensemble.connectString);
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    const { id } = session;
    const states: SessionState[] = [];
    session.onState((state) => states.push(state));
    const server = await serverOf(session);
    const connectedAgain = nextState(session, 'disconnected').then(() => nextState(session, 'connected'));
    await server.kill();
    await connectedAgain;
    expect(session.id).toBe(id);
    await waitFor(async () => (await kindOf(session.write(path, bytes('1')))) === 'success', { what: 'a write' });
    expect((await session.stat(path))?.owner).toBe(id);
    expect(states[0]).toBe('disconnected');
    expect(states.at(-1)).toBe('connected');
    await session.close();
  });

  it('notices a server that hangs within the session timeout, and leaves it', async () => {
    const session = await open(ensemble.connectString, { sessionTimeoutMs: 3000 });
    const server = await serverOf(session);
    const begin = performance.now();
    server.freeze();
    const pending = kindOf(session.write('/', bytes('')));
    await nextState(session, 'disconnected');
    expect(performance.now() - begin).toBeLessThan(3000);
    expect(['operation_timeout', 'connection_lost']).toContain(await pending);
    await nextState(session, 'connected');
    await session.close();
  });

  it('loses its connection with the quorum, keeps what is asked meanwhile, and comes back', async () => {
    const session = await open(ensemble.connectString, { sessionTimeoutMs: 30_000 });
    // Until it has an answer the C client knows of no transaction, and goes to any server, however far that lags.
    await session.write('/', bytes(''));
    const { id } = session;
    const [first, second] = ensemble.servers as [ZooKeeperServer, ZooKeeperServer];
    const gone = nextState(session, 'disconnected');
    await Promise.all([first.kill(), second.kill()]);
    await gone;
    await sleep(300);
    expect(session.state).toBe('disconnected');
    const asked = kindOf(session.stat('/'));
    await ensemble.restore();
    await nextState(session, 'connected');
    expect(session.id).toBe(id);
    expect(['success', 'connection_lost', 'operation_timeout']).toContain(await asked);
    expect(await kindOf(session.stat('/'))).toBe('success');
    await session.close();
  });

  it('expires when its other holder closes it: all that is under way settles, and so does what comes later', async () => {
    const session = await open(ensemble.connectString);
    const states: SessionState[] = [];
    session.onState((state) => states.push(state));
    const server = await serverOf(session);
    await endSession(server.clientPort, session);
    expect(states.at(-1)).toBe('expired');
    expect(new Set(await Promise.all(everyOperation(session).map(kindOf)))).toEqual(new Set(['session_expired']));
    await session.close();
    expect(session.state).toBe('expired');
  });

  it('expires with operations under way: they settle too', async () => {
    const session = await open(ensemble.connectString, { sessionTimeoutMs: 2000 });
    const server = await serverOf(session);
    const pending: Promise<string>[] = [];
    let going = true;
    const asking = (async () => {
      while (going) {
        pending.push(...everyOperation(session).map(kindOf));
        await sleep(1);
      }
    })();
    await endSession(server.clientPort, session);
    await sleep(20);
    going = false;
    await asking;
    const kinds = new Set(await Promise.all(pending));
    expect(kinds).toContain('session_expired');
    await session.close();
  });

  it('expires after a stall that was longer than the session timeout, though the C client believes otherwise', async () => {
    const session = await open(ensemble.connectString, { sessionTimeoutMs: 1000 });
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    void session.write(path, bytes('unread')).catch(() => {});
    const until = performance.now() + 4000;
    while (performance.now() < until);
    await nextState(session, 'expired', 3000);
    expect(await kindOf(session.write(path, bytes('late')))).toBe('session_expired');
    // The observer was stalled as well, and may have lost its connection.
    await waitFor(async () => (await observer.stat(path).catch(() => true)) === null, { what: 'the ephemeral to go' });
  });

  it('has the timeout that the ensemble grants, not the one that was asked for', async () => {
    const [short, middle, long] = await Promise.all(
      [200, 3000, 3_600_000].map((sessionTimeoutMs) => open(ensemble.connectString, { sessionTimeoutMs })),
    );
    expect([short?.timeoutMs, middle?.timeoutMs, long?.timeoutMs]).toEqual([1000, 3000, 30_000]);
  });

  it('moves data of the largest size that it allows through a follower', async () => {
    const [follower] = await ensemble.followers();
    const session = await open(follower?.address ?? '', { sessionTimeoutMs: 10_000 });
    const path = freshPath();
    const largest = Buffer.alloc(0xfffff - 1024 - path.length, 7);
    await session.create(path, largest, 'ephemeral');
    await session.write(path, largest);
    expect((await session.read(path))?.data.length).toBe(largest.length);
    expect(await kindOf(session.write(path, Buffer.alloc(largest.length + 1)))).toBe('too_large');
    await session.close();
  });
});
