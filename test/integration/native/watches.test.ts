import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import type { NativeSession } from '../../../src/zookeeper/native/session.js';
import { nextState } from '../../support/driver-tests.js';
import { bytes, closeAll, freshPath, nextChange, open, sleep } from './support.js';

let ensemble: Ensemble;
let server: ZooKeeperServer;
let session: NativeSession;
let other: NativeSession;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500 });
  server = ensemble.servers[0] as ZooKeeperServer;
  session = await open(ensemble.connectString, { sessionTimeoutMs: 10_000 });
  other = await open(ensemble.connectString, { sessionTimeoutMs: 10_000 });
});

afterAll(async () => {
  await closeAll();
  await ensemble?.close();
});

const watches = async (): Promise<number> =>
  Number(/^Total watches:(\d+)/m.exec(await server.ask('wchs'))?.[1] ?? Number.NaN);

it('fire once each: changed, deleted, created, children', async () => {
  const path = freshPath();
  await other.create(path, bytes(''), 'persistent');
  const log: string[] = [];
  session.onNode(path, (change) => log.push(change));
  await session.read(path, { watch: true });
  await other.write(path, bytes('1'));
  await other.write(path, bytes('2'));
  await session.children(path, { watch: true });
  const child = await other.create(`${path}/a`, bytes(''), 'ephemeral');
  await other.remove(child);
  await session.stat(path, { watch: true });
  await other.remove(path);
  expect(await session.stat(path, { watch: true })).toBeNull();
  await other.create(path, bytes(''), 'ephemeral');
  await session.sync('/');
  expect(log).toEqual(['changed', 'children', 'deleted', 'created']);
  await other.remove(path);
});

it('are not left by reads without one, nor by reads of an absent node', async () => {
  const before = await watches();
  await session.read('/', { watch: false });
  await session.stat('/');
  await session.children('/');
  expect(await session.read('/none', { watch: true })).toBeNull();
  expect(await session.children('/none', { watch: true })).toBeNull();
  expect(await watches()).toBe(before);
});

it('survive a reconnect, and tell what was missed', async () => {
  const path = freshPath();
  const [watcher, writer] = await Promise.all([
    open(ensemble.connectString, { sessionTimeoutMs: 3000 }),
    open(ensemble.connectString),
  ]);
  await writer.create(path, bytes(''), 'ephemeral');
  await watcher.read(path, { watch: true });
  const change = nextChange(watcher, path);
  server.freeze();
  const written = writer.write(path, bytes('missed'));
  await nextState(watcher, 'disconnected');
  server.thaw();
  expect(await change).toBe('changed');
  await written;
  expect(watcher.state).toBe('connected');
});

it('on thousands of paths reach their own listener, and leave nothing behind', async () => {
  const parent = freshPath();
  const size = 2000;
  await other.create(parent, bytes(''), 'persistent');
  const paths = Array.from({ length: size }, (_, i) => `${parent}/${i}`);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heard = new Map<string, number>();
  const before = await watches();

  const round = async (): Promise<void> => {
    heard.clear();
    await Promise.all(paths.map((path) => other.create(path, bytes(''), 'ephemeral')));
    await session.sync('/');
    const cancels = paths.map((path) =>
      session.onNode(path, (change) => {
        expect(change).toBe('deleted');
        heard.set(path, (heard.get(path) ?? 0) + 1);
      }),
    );
    await Promise.all(paths.map((path) => session.read(path, { watch: true })));
    expect(await watches()).toBe(before + size);
    await Promise.all(paths.map((path) => other.remove(path)));
    await waitFor(() => heard.size === size, { what: 'every listener' });
    expect([...heard.values()].every((times) => times === 1)).toBe(true);
    for (const cancel of cancels) cancel();
  };
  // The heap takes some rounds to reach its size.
  for (let i = 0; i < 5; i += 1) await round();
  collect();
  const rss = process.memoryUsage().rss;
  for (let i = 0; i < 16; i += 1) await round();
  collect();
  await sleep(50);
  // 32,000 watches by a watcher each would leave 26 MB behind.
  expect(process.memoryUsage().rss - rss).toBeLessThan(17e6);
  expect(await watches()).toBe(before);
  await other.remove(parent);
});
