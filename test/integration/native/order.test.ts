import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import type { NativeSession } from '../../../src/zookeeper/native/session.js';
import { nextState } from '../../support/driver-tests.js';
import { Relay } from './relay.js';
import { bytes, closeAll, endSession, freshPath, open } from './support.js';

let ensemble: Ensemble;
let session: NativeSession;
let other: NativeSession;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500 });
  session = await open(ensemble.connectString);
  other = await open(ensemble.connectString);
});

afterAll(async () => {
  await closeAll();
  await ensemble?.close();
});

/**
 * A chain of promise reactions that logs at its end. Each is shorter than the one before: were two deliveries made in one
 * go, the later one would be first.
 */
let ticks = 0;
async function reactions(log: string[], name: string): Promise<void> {
  ticks = ticks <= 0 ? 200 : ticks - 5;
  for (let i = ticks; i > 0; i -= 1) await null;
  log.push(name);
}

describe('replies', () => {
  it('are each followed by all their reactions before the next is delivered', async () => {
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    for (let round = 0; round < 20; round += 1) {
      const log: string[] = [];
      ticks = 0;
      await Promise.all([
        session.stat(path).then(() => reactions(log, 'stat')),
        session.read(path).then(() => reactions(log, 'read')),
        session.children(path).then(() => reactions(log, 'children')),
        session.write(path, bytes('')).then(() => reactions(log, 'write')),
        session.stat('/none').then(() => reactions(log, 'none')),
        session.write(path, bytes(''), 10_000).catch(() => reactions(log, 'refused')),
        session.sync(path).then(() => reactions(log, 'sync')),
      ]);
      expect(log).toEqual(['stat', 'read', 'children', 'write', 'none', 'refused', 'sync']);
    }
  });

  it('come in the order of the calls, also of a thousand at once', async () => {
    const log: number[] = [];
    await Promise.all(Array.from({ length: 1000 }, (_, i) => session.stat('/').then(() => log.push(i))));
    expect(log).toEqual(Array.from({ length: 1000 }, (_, i) => i));
  });
});

describe('a lost connection', () => {
  it('fails the operations under way one by one, each with its reactions before the next', async () => {
    // The addon reports all of them, and the loss, in one go.
    const relay = await Relay.listen({ port: 0, targetPort: ensemble.servers[0]?.clientPort ?? 0 });
    const guest = await open(`127.0.0.1:${relay.port}`);
    const log: string[] = [];
    const expected = Array.from({ length: 20 }, (_, i) => `failed ${i}`);
    guest.onState((state) => log.push(state));
    ticks = 0;
    relay.drop();
    await Promise.all(expected.map((entry) => guest.stat('/').catch(() => reactions(log, entry))));
    await nextState(guest, 'connected');
    await guest.stat('/');
    expect(log.filter((entry) => entry.startsWith('failed'))).toEqual(expected);
    expect(log.filter((entry) => !entry.startsWith('failed'))).toEqual(['disconnected', 'connected']);
    await relay.close();
    await guest.close();
  });
});

describe('node changes', () => {
  it('come before the reply of any operation that shows them, with their reactions done', async () => {
    const path = freshPath();
    await other.create(path, bytes('0'), 'ephemeral');
    for (let round = 1; round <= 100; round += 1) {
      const log: string[] = [];
      const cancel = session.onNode(path, (change) => {
        void Promise.resolve().then(() => reactions(log, change));
      });
      await session.read(path, { watch: true });
      let seen = false;
      const written = other.write(path, bytes(String(round)));
      while (!seen) {
        const found = await session.read(path);
        log.push(String(found?.data) === String(round) ? 'new' : 'old');
        seen = log.at(-1) === 'new';
      }
      expect(log.filter((entry) => entry !== 'old')).toEqual(['changed', 'new']);
      await written;
      cancel();
    }
  });

  it('and replies of one session keep the order of the transactions', async () => {
    const parent = freshPath();
    await session.create(parent, bytes(''), 'persistent');
    for (let round = 0; round < 50; round += 1) {
      const log: string[] = [];
      const path = `${parent}/n`;
      await session.create(path, bytes(''), 'ephemeral');
      await session.read(path, { watch: true });
      await session.children(parent, { watch: true });
      const cancels = [
        session.onNode(path, (change) => void reactions(log, `node ${change}`)),
        session.onNode(parent, (change) => void reactions(log, `parent ${change}`)),
      ];
      await Promise.all([
        session.stat('/').then(() => reactions(log, 'before')),
        session.remove(path).then(() => reactions(log, 'removed')),
        session.stat(path).then(() => reactions(log, 'after')),
      ]);
      expect(log).toEqual(['before', 'node deleted', 'parent children', 'removed', 'after']);
      for (const cancel of cancels) cancel();
    }
    await session.remove(parent);
  });
});

describe('listeners', () => {
  it('are never called from inside a call of ours', async () => {
    const path = freshPath();
    let inside = false;
    const wrongly: string[] = [];
    const guest = await open(ensemble.connectString);
    const check = (what: string) => (): void => {
      if (inside) wrongly.push(what);
    };
    guest.onNode(path, check('node'));
    guest.onState(check('state'));
    const call = <T>(operation: () => T): T => {
      inside = true;
      const result = operation();
      inside = false;
      return result;
    };
    await call(() => guest.create(path, bytes(''), 'ephemeral'));
    await call(() => guest.read(path, { watch: true }));
    await call(() => guest.write(path, bytes('')));
    await call(() => guest.close());
    expect(wrongly).toEqual([]);
  });

  it('that are cancelled meanwhile are not called, and one that is added meanwhile waits for the next change', async () => {
    const path = freshPath();
    await session.create(path, bytes(''), 'ephemeral');
    const log: string[] = [];
    const cancels = [
      session.onNode(path, () => {
        log.push('first');
        cancels[1]?.();
        cancels[1]?.();
        session.onNode(path, () => log.push('late'));
      }),
      session.onNode(path, () => log.push('second')),
      session.onNode(path, () => log.push('third')),
    ];
    await session.read(path, { watch: true });
    await session.write(path, bytes('a'));
    expect(log).toEqual(['first', 'third']);
    for (const cancel of cancels) cancel();
    await session.read(path, { watch: true });
    await session.write(path, bytes('b'));
    expect(log).toEqual(['first', 'third', 'late']);
  });

  it('hear of the end before the operations that it fails, and of nothing after', async () => {
    const guest = await open(ensemble.connectString);
    const log: string[] = [];
    guest.onState((state) => void reactions(log, state));
    // One that is merely lost with the connection, ahead of the end, is sent again.
    const failedByTheEnd = async (error: { kind?: string }) => {
      if (error.kind !== 'session_expired') return false;
      await reactions(log, 'failed');
      return true;
    };
    await Promise.all([
      endSession(ensemble.servers[0]?.clientPort ?? 0, guest),
      waitFor(() => guest.stat('/').then(() => false, failedByTheEnd), { what: 'the end', intervalMs: 1 }),
    ]);
    await guest.close();
    expect(log.filter((entry) => !entry.endsWith('connected'))).toEqual(['expired', 'failed']);
    expect(guest.state).toBe('expired');
  });
});
