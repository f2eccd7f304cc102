import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import ZooKeeper from 'zookeeper';
import { type Ensemble, leasePort, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import { AuthenticationError, ConnectTimeoutError, NameResolutionError } from '../../../src/errors.js';
import { nextState, sessionsAt, silentServer } from '../../support/driver-tests.js';
import { Relay } from './relay.js';
import { bytes, closeAll, freshPath, kindOf, open, sleep } from './support.js';

let ensemble: Ensemble;
let server: ZooKeeperServer;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500 });
  server = ensemble.servers[0] as ZooKeeperServer;
});

afterAll(async () => {
  await closeAll();
  await ensemble?.close();
});

const sessions = (): Promise<number> => sessionsAt(server);

/** Leaves a node to the holder of these credentials alone. */
async function restrict(address: string, path: string, credential: string): Promise<void> {
  const client = new ZooKeeper({ connect: address, timeout: 4000, debug_level: 0, host_order_deterministic: true });
  await new Promise<void>((resolve, reject) => {
    client.on('connect', () => {
      client.add_auth('digest', credential, () => {});
      const acl = [{ perms: 31, scheme: 'auth', auth: '' }];
      client.a_set_acl(path, -1, acl, (rc) =>
        setImmediate(() => (rc === 0 ? resolve() : reject(new Error(String(rc))))),
      );
    });
    client.init({});
  });
  client.close();
}

describe('open', () => {
  it('gives up at the deadline when every port refuses, and names the servers', async () => {
    const port = await leasePort();
    const address = `127.0.0.1:${port.port}`;
    const begin = performance.now();
    const failed = open(`${address},127.0.0.2:${port.port}`, { connectTimeoutMs: 500 });
    await expect(failed).rejects.toThrow(ConnectTimeoutError);
    await expect(failed).rejects.toThrow(new RegExp(`${address}, 127.0.0.2:${port.port} within 500 ms`));
    expect(performance.now() - begin).toBeLessThan(1500);
    port.release();
  });

  it('gives up at the deadline on a server that hangs', async () => {
    const silent = await silentServer();
    await expect(open(`127.0.0.1:${silent.port}`, { connectTimeoutMs: 500 })).rejects.toThrow(ConnectTimeoutError);
    silent.close();
  });

  it('gets past servers that refuse or hang', async () => {
    const silent = await silentServer();
    const list = `127.0.0.1:1,127.0.0.1:${silent.port},${server.address}`;
    for (let i = 0; i < 3; i += 1) {
      const session = await open(list, { sessionTimeoutMs: 1500 });
      expect(session.state).toBe('connected');
      await session.close();
    }
    silent.close();
  });

  it('gets past an address to which there is no route, whatever the order', async () => {
    // Connecting to the broadcast address fails at once, as an IPv6 address does where there is no IPv6.
    for (let i = 0; i < 6; i += 1) {
      const session = await open(`255.255.255.255:2181,${server.address}`, { connectTimeoutMs: 2000 });
      await session.close();
    }
    const nowhere = open('255.255.255.255:2181', { connectTimeoutMs: 600 });
    await expect(nowhere).rejects.toThrow(ConnectTimeoutError);
  });

  it('reaches a server over IPv6', async () => {
    const relay = await Relay.listen({ port: 0, host: '::1', targetPort: server.clientPort });
    const session = await open(`[::1]:${relay.port}`);
    expect(await kindOf(session.write('/', bytes('6')))).toBe('success');
    await session.close();
    await relay.close();
  });

  it('rejects when no name resolves, and goes on when one does', async () => {
    const failed = open('no-such-host.invalid:2181');
    await expect(failed).rejects.toThrow(NameResolutionError);
    await expect(failed).rejects.toThrow(/no-such-host\.invalid/);
    const session = await open(`no-such-host.invalid,localhost:${server.clientPort}`);
    expect(session.state).toBe('connected');
    await session.close();
  });

  it('reports a resolver that hangs as such, within the deadline', async () => {
    const begin = performance.now();
    const failed = open('zk:2181', { connectTimeoutMs: 2_000, lookup: () => new Promise(() => {}) });
    await expect(failed).rejects.toThrow(NameResolutionError);
    expect(performance.now() - begin).toBeLessThan(2_000);
  });
});

describe('names', () => {
  it('never reach the C client, which would block the loop on them', async () => {
    // Only our own resolver knows this name: were it handed on, there would be no connection, or no second one.
    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort });
    const session = await open(`zk.invalid:${relay.port}`, { lookup: async () => ['127.0.0.1'] });
    const down = nextState(session, 'disconnected');
    relay.drop();
    await down;
    await nextState(session, 'connected');
    expect(await kindOf(session.write('/', bytes('1')))).toBe('success');
    await session.close();
    await relay.close();
  });

  it('are looked up again while disconnected: the session goes on at the new address', async () => {
    let address = '127.0.0.2';
    const lookup = async (): Promise<string[]> => [address];
    const first = await Relay.listen({ port: 0, host: address, targetPort: server.clientPort });
    const session = await open(`zk.invalid:${first.port}`, { lookup });
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    const { id } = session;
    const down = nextState(session, 'disconnected');
    await first.close();
    await down;
    address = '127.0.0.3';
    const second = await Relay.listen({ port: first.port, host: address, targetPort: server.clientPort });
    await nextState(session, 'connected', 3900);
    expect(second.accepted).toBe(1);
    expect(session.id).toBe(id);
    expect((await session.stat(path))?.owner).toBe(id);
    await session.close();
    await second.close();
  });

  it('that still lead to the same servers keep the session, however long they are away', async () => {
    const relay = await Relay.listen({ port: 0, host: '127.0.0.4', targetPort: server.clientPort });
    const lookup = async (): Promise<string[]> => ['127.0.0.4'];
    const session = await open(`zk.invalid:${relay.port}`, { lookup, sessionTimeoutMs: 10_000 });
    const down = nextState(session, 'disconnected');
    await relay.close();
    await down;
    await sleep(3000);
    const again = await Relay.listen({ port: relay.port, host: '127.0.0.4', targetPort: server.clientPort });
    await nextState(session, 'connected');
    expect(await kindOf(session.stat('/'))).toBe('success');
    await session.close();
    await again.close();
  });
});

describe('credentials', () => {
  it('are in force when the session is handed out, and after a reconnect', async () => {
    const path = freshPath();
    const owner = await open(server.address);
    await owner.create(path, bytes('secret'), 'persistent');
    await restrict(server.address, path, 'user:password');
    expect(await kindOf(owner.read(path))).toBe('no_auth');

    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort });
    const auth = [{ scheme: 'digest', credential: 'user:password' }];
    const begin = performance.now();
    const session = await open(`127.0.0.1:${relay.port}`, { auth });
    // They aren't flushed by themselves: alone they would wait for the next ping.
    expect(performance.now() - begin).toBeLessThan(1000);
    expect(await kindOf(session.read(path))).toBe('success');
    const down = nextState(session, 'disconnected');
    relay.drop();
    await down;
    await nextState(session, 'connected');
    expect(await kindOf(session.read(path))).toBe('success');
    await session.close();
    await relay.close();
  });

  it('of an unknown scheme are refused with AuthenticationError', async () => {
    const before = await sessions();
    const failed = open(server.address, { auth: [{ scheme: 'nonsense', credential: 'a' }] });
    await expect(failed).rejects.toThrow(AuthenticationError);
    await expect(failed).rejects.toThrow(/nonsense/);
    await waitFor(async () => (await sessions()) === before, { what: 'the session to go', timeoutMs: 15_000 });
  });
});

describe('an abort', () => {
  it('before, while resolving, while connecting or while authenticating rejects with its reason', async () => {
    const reason = new Error('enough');
    await expect(open(server.address, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

    const silent = await silentServer();
    const cases: [string, Parameters<typeof open>[1]][] = [
      ['zk.invalid', { lookup: () => new Promise(() => {}) }],
      [`127.0.0.1:${silent.port}`, {}],
      ['127.0.0.1:1', {}],
      ['255.255.255.255:1', {}],
    ];
    for (const [list, options] of cases) {
      const abort = new AbortController();
      const opening = open(list, { ...options, signal: abort.signal });
      setTimeout(() => abort.abort(reason), 50);
      await expect(opening).rejects.toBe(reason);
    }
    silent.close();
  });

  it('at any moment leaves no session', async () => {
    const before = await sessions();
    const auth = [{ scheme: 'digest', credential: 'user:password' }];
    const begin = performance.now();
    const whole = await open(server.address, { auth });
    const took = performance.now() - begin;
    await whole.close();
    let opened = 0;
    // From at once to twice as late as it took undisturbed; the last one isn't disturbed either.
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const abort = new AbortController();
      const opening = open(server.address, { signal: abort.signal, auth });
      if (attempt < 29) setTimeout(() => abort.abort(), (attempt / 14) * took);
      const session = await opening.catch(() => null);
      if (session !== null) opened += 1;
      await session?.close();
    }
    expect(opened).toBeGreaterThan(0);
    expect(opened).toBeLessThan(30);
    // One that was granted to a connection that was closed before the reply can't be ended: its T of 4 s passes.
    await waitFor(async () => (await sessions()) <= before, { what: 'all sessions to go' });
  });
});

describe('a reply in many pieces', () => {
  it('does not end the session', async () => {
    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort, pieceBytes: 100 });
    const session = await open(`127.0.0.1:${relay.port}`);
    const path = freshPath();
    await session.create(path, Buffer.alloc(10_000, 1), 'ephemeral');
    expect((await session.read(path))?.data.length).toBe(10_000);
    expect(session.state).toBe('connected');
    await session.close();
    await relay.close();
  });
});
