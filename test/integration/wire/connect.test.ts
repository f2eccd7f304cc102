import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, leasePort, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import { AuthenticationError, ConnectTimeoutError, NameResolutionError } from '../../../src/errors.js';
import { nextState, sessionsAt, silentServer } from '../../support/driver-tests.js';
import { Relay } from '../native/relay.js';
import { bytes, closeAll, freshPath, open, refusal, sleep } from './support.js';

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

/** What would keep the process alive, or be called later. */
const resources = (): string[] =>
  process.getActiveResourcesInfo().filter((name) => /Timeout|Immediate|TCP|TLS|Socket|GetAddrInfo/.test(name));

describe('open', () => {
  it('gives up at the deadline, and says what became of each server', async () => {
    const port = await leasePort();
    const silent = await silentServer();
    const list = `127.0.0.1:${port.port},127.0.0.1:${silent.port}`;
    const failed = open(list, { connectTimeoutMs: 1_500, sessionTimeoutMs: 1_000 });
    await expect(failed).rejects.toThrow(ConnectTimeoutError);
    await expect(failed).rejects.toThrow(new RegExp(`127.0.0.1:${port.port}: connect ECONNREFUSED`));
    await expect(failed).rejects.toThrow(new RegExp(`127.0.0.1:${silent.port}: granted no session within \\d+ ms`));
    silent.close();
    port.release();
  });

  it('gets past servers that refuse or hang, and addresses without a route', async () => {
    const silent = await silentServer();
    const list = `127.0.0.1:1,255.255.255.255:2181,127.0.0.1:${silent.port},${server.address}`;
    for (let i = 0; i < 4; i += 1) {
      const session = await open(list, { sessionTimeoutMs: 1_500 });
      expect(session.state).toBe('connected');
      expect(session.server).toBe(server.address);
      await session.close();
    }
    silent.close();
  });

  it('reaches a server over IPv6', async () => {
    const relay = await Relay.listen({ port: 0, host: '::1', targetPort: server.clientPort });
    const session = await open(`[::1]:${relay.port}`);
    await session.write('/', bytes('6'), -1);
    await session.close();
    await relay.close();
  });

  it('rejects when no name resolves, and goes on when one does', async () => {
    const failed = open('no-such-host.invalid:2181');
    await expect(failed).rejects.toThrow(NameResolutionError);
    const session = await open(`no-such-host.invalid,localhost:${server.clientPort}`);
    expect(session.state).toBe('connected');
    const hanging = open('zk:2181', { connectTimeoutMs: 600, lookup: () => new Promise(() => {}) });
    await expect(hanging).rejects.toThrow(NameResolutionError);
  });

  it('refuses credentials of an unknown scheme, and leaves no session', async () => {
    const before = await sessions();
    const failed = open(server.address, { auth: [{ scheme: 'nonsense', credential: 'a' }] });
    await expect(failed).rejects.toThrow(AuthenticationError);
    await expect(failed).rejects.toThrow(/nonsense/);
    await waitFor(async () => (await sessions()) <= before, { what: 'the session to go', timeoutMs: 15_000 });
  });

  it('aborted at any moment rejects with the reason, and leaves no session at once', async () => {
    const before = await sessions();
    let opened = 0;
    for (let delay = 0; delay < 40; delay += 1) {
      const abort = new AbortController();
      const opening = open(server.address, { signal: abort.signal, sessionTimeoutMs: 10_000 });
      setTimeout(() => abort.abort(), delay / 4);
      const session = await opening.catch((error: unknown) => {
        expect(error).toBe(abort.signal.reason);
        return null;
      });
      if (session !== null) opened += 1;
      await session?.close();
    }
    expect(opened).toBeLessThan(40);
    // Far less than T: what was granted to nobody is ended all the same.
    await waitFor(async () => (await sessions()) <= before, { what: 'all sessions to go', timeoutMs: 5_000 });
  });
});

describe('names', () => {
  it('are resolved for every attempt: the session goes on at the new address', async () => {
    let address = '127.0.0.2';
    const lookup = async (): Promise<string[]> => [address];
    const first = await Relay.listen({ port: 0, host: address, targetPort: server.clientPort });
    const session = await open(`zk.invalid:${first.port}`, { lookup, sessionTimeoutMs: 8_000 });
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    const { id } = session;
    const down = nextState(session, 'disconnected');
    await first.close();
    await down;
    address = '127.0.0.3';
    const second = await Relay.listen({ port: first.port, host: address, targetPort: server.clientPort });
    await nextState(session, 'connected');
    expect((await session.stat(path))?.owner).toBe(id);
    await session.close();
    await second.close();
  });

  it('that nobody can resolve any more, or only slowly, cost no session', async () => {
    let answer: () => Promise<string[]> = async () => ['127.0.0.1'];
    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort });
    const session = await open(`zk.invalid:${relay.port}`, { lookup: () => answer() });
    for (const trouble of [() => Promise.reject(new Error('down')), () => new Promise<string[]>(() => {})]) {
      answer = trouble;
      const down = nextState(session, 'disconnected');
      relay.drop();
      await down;
      await nextState(session, 'connected', 3_900);
    }
    await session.write('/', bytes(''), -1);
    await session.close();
    await relay.close();
  });
});

describe('a connection', () => {
  it('to a server that hangs is given up after a third of the session timeout', async () => {
    const own = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
    const session = await open(own.connectString, { sessionTimeoutMs: 6_000 });
    const states: string[] = [];
    session.onState((state) => states.push(state));
    const begin = performance.now();
    own.servers[0]?.freeze();
    await nextState(session, 'disconnected');
    const noticedMs = performance.now() - begin;
    expect(noticedMs).toBeGreaterThan(900);
    expect(noticedMs).toBeLessThan(4_000);
    own.servers[0]?.thaw();
    await nextState(session, 'connected');
    expect(states).toEqual(['disconnected', 'connected']);
    await session.close();
    await own.close();
  });

  it('is kept over a pause of our own, as long as the session lives', async () => {
    const session = await open(server.address, { sessionTimeoutMs: 6_000 });
    const states: string[] = [];
    session.onState((state) => states.push(state));
    for (let i = 0; i < 3; i++) {
      const until = performance.now() + 2_500;
      while (performance.now() < until);
      await sleep(30);
    }
    await session.write('/', bytes(''), -1);
    expect(states).toEqual([]);
  });

  it('that is idle keeps the session for ever', async () => {
    const session = await open(server.address, { sessionTimeoutMs: 1_000 });
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    const states: string[] = [];
    session.onState((state) => states.push(state));
    await sleep(4_000);
    expect((await session.stat(path))?.owner).toBe(session.id);
    expect(states.filter((state) => state === 'expired')).toEqual([]);
  });

  it('carries replies in many pieces', async () => {
    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort, pieceBytes: 100 });
    const session = await open(`127.0.0.1:${relay.port}`);
    const path = freshPath();
    await session.create(path, Buffer.alloc(10_000, 1), 'ephemeral');
    expect((await session.read(path))?.data.length).toBe(10_000);
    await session.close();
    await relay.close();
  });

  it('brings credentials along each time', async () => {
    const auth = [{ scheme: 'digest', credential: 'user:password' }];
    const acl = [{ scheme: 'auth', id: '', permissions: 31 }];
    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort });
    const session = await open(`127.0.0.1:${relay.port}`, { auth, acl });
    const path = freshPath();
    await session.create(path, bytes(''), 'persistent');
    const down = nextState(session, 'disconnected');
    relay.drop();
    // Called before the credentials can be on their way again.
    const early = session.read(path).catch((error: unknown) => error);
    await down;
    await nextState(session, 'connected');
    expect(await session.read(path)).not.toBeNull();
    expect(await early).not.toMatchObject({ kind: 'no_auth' });
    await session.close();
    await relay.close();
  });
});

describe('an operation', () => {
  it('that was never sent is said not to be applied', async () => {
    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort });
    const session = await open(`127.0.0.1:${relay.port}`, { sessionTimeoutMs: 10_000 });
    const down = nextState(session, 'disconnected');
    await relay.close();
    await down;
    const path = freshPath();
    const error = await refusal(session.create(path, bytes(''), 'persistent'));
    expect(error).toMatchObject({ kind: 'connection_lost', maybeApplied: false, retriable: true });
    await session.close();
    expect(await (await open(server.address)).stat(path)).toBeNull();
  });
});

describe('a session that no server takes', () => {
  it('is over by our own clock when that was asked for, and says why', async () => {
    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort });
    const session = await open(`127.0.0.1:${relay.port}`, { sessionTimeoutMs: 2_000, expireAfterMs: 2_000 });
    const begin = performance.now();
    await relay.close();
    await nextState(session, 'expired');
    expect(performance.now() - begin).toBeGreaterThan(1_500);
    expect(session.end).toBe('unheard');
    const error = await refusal(session.stat('/'));
    expect(error).toMatchObject({ kind: 'session_expired', maybeApplied: false });
    expect(error.message).toContain('no server has taken us for too long');
  });
});

describe('close', () => {
  it('leaves no timer, no socket and no listener behind, however it comes about', async () => {
    await closeAll();
    await waitFor(async () => resources().length === 0, { what: 'nothing to be open' });
    const silent = await silentServer();
    const relay = await Relay.listen({ port: 0, targetPort: server.clientPort });
    const abort = new AbortController();
    const { signal } = abort;
    const good = await open(server.address, { signal });
    const cut = await open(`127.0.0.1:${relay.port}`, { signal, sessionTimeoutMs: 10_000 });
    await open(`127.0.0.1:${silent.port}`, { signal, connectTimeoutMs: 300 }).catch(() => {});
    await open('127.0.0.1:1', { signal, connectTimeoutMs: 300 }).catch(() => {});
    await open('zk.invalid', { signal, connectTimeoutMs: 300, lookup: () => new Promise(() => {}) }).catch(() => {});
    await relay.close();
    await Promise.all([good.close(), cut.close()]);
    silent.close();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await waitFor(async () => resources().length === 0, { what: 'all to be gone', timeoutMs: 2_000 }).catch(() => {});
    expect(resources()).toEqual([]);
  });
});
