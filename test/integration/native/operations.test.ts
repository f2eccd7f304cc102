import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble } from '../../../deploy/local/index.js';
import type { NativeSession } from '../../../src/zookeeper/native/session.js';
import { bytes, closeAll, freshPath, kindOf, open } from './support.js';

let ensemble: Ensemble;
let session: NativeSession;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500 });
  session = await open(ensemble.connectString);
});

afterAll(async () => {
  await closeAll();
  await ensemble?.close();
});

describe('data', () => {
  it.each([
    ['none', Buffer.alloc(0)],
    ['a zero', Buffer.from([0])],
    ['every byte', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0xc0, 0x80])],
    ['a view into a larger buffer', new Uint8Array(new Uint8Array([1, 2, 3, 4, 5]).buffer, 1, 3)],
  ])('%s comes back unchanged', async (_, data) => {
    const path = freshPath();
    await session.create(path, data, 'ephemeral');
    expect(Buffer.from((await session.read(path))?.data ?? [])).toEqual(Buffer.from(data));
    await session.write(path, Buffer.from('x'));
    await session.write(path, data);
    expect(Buffer.from((await session.read(path))?.data ?? [])).toEqual(Buffer.from(data));
  });

  it('is taken as it is at the call', async () => {
    const path = freshPath();
    const data = bytes('before');
    const created = session.create(path, data, 'ephemeral');
    data.write('after!');
    await created;
    expect(String((await session.read(path))?.data)).toBe('before');
  });

  it.each([undefined, null, 'text', 7, {}])('%j is refused, and never stored as its name', async (data) => {
    const path = freshPath();
    expect(await kindOf(session.create(path, data as never, 'ephemeral'))).toBe('invalid_argument');
    expect(await kindOf(session.write('/', data as never))).toBe('invalid_argument');
    expect(await session.stat(path)).toBeNull();
  });

  it('just within the limit goes through, and above it is refused before it is sent', async () => {
    const path = freshPath();
    const limit = 0xfffff - 1024 - path.length;
    expect(await kindOf(session.create(path, Buffer.alloc(limit, 1), 'ephemeral'))).toBe('success');
    expect(await kindOf(session.write(path, Buffer.alloc(limit, 2)))).toBe('success');
    const states: string[] = [];
    const cancel = session.onState((state) => states.push(state));
    expect(await kindOf(session.write(path, Buffer.alloc(limit + 1)))).toBe('too_large');
    expect(await kindOf(session.create(freshPath(), Buffer.alloc(2 ** 20 + 1), 'ephemeral'))).toBe('too_large');
    expect((await session.read(path))?.data.at(-1)).toBe(2);
    cancel();
    expect(states).toEqual([]);
  });
});

describe('stat', () => {
  it('has exact numbers, dates in milliseconds, and the owner as the session spells its id', async () => {
    const path = freshPath();
    const before = Date.now();
    await session.create(path, bytes('a'), 'ephemeral');
    const first = await session.stat(path);
    const second = await session.write(path, bytes('b'), 0);
    expect(first).toMatchObject({ version: 0, cversion: 0, children: 0, owner: session.id });
    expect(second).toMatchObject({ version: 1, czxid: first?.czxid, owner: session.id });
    expect(typeof first?.czxid).toBe('bigint');
    expect(first?.mzxid).toBe(first?.czxid);
    expect(second.mzxid > second.czxid).toBe(true);
    expect(Math.abs((first?.ctime ?? 0) - before)).toBeLessThan(5000);
    expect(session.id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('of a persistent node names no owner', async () => {
    const path = freshPath();
    await session.create(path, bytes(''), 'persistent');
    expect((await session.stat(path))?.owner).toBeNull();
    await session.remove(path);
  });
});

describe('refusals', () => {
  it('come as kinds', async () => {
    const parent = freshPath();
    const leaf = freshPath();
    await session.create(parent, bytes(''), 'persistent');
    await session.create(`${parent}/a`, bytes(''), 'persistent');
    await session.create(leaf, bytes(''), 'ephemeral');
    expect(await kindOf(session.create(parent, bytes(''), 'persistent'))).toBe('node_exists');
    expect(await kindOf(session.create('/no/parent', bytes(''), 'persistent'))).toBe('no_node');
    expect(await kindOf(session.remove('/no-node'))).toBe('no_node');
    expect(await kindOf(session.write('/no-node', bytes('')))).toBe('no_node');
    expect(await kindOf(session.write(parent, bytes(''), 7))).toBe('bad_version');
    expect(await kindOf(session.remove(`${parent}/a`, 7))).toBe('bad_version');
    expect(await kindOf(session.remove(parent))).toBe('not_empty');
    expect(await kindOf(session.create(`${leaf}/x`, bytes(''), 'ephemeral'))).toBe('no_children_for_ephemerals');
    expect(await session.read('/no-node')).toBeNull();
    expect(await session.stat('/no-node')).toBeNull();
    expect(await session.children('/no-node')).toBeNull();
    await session.remove(`${parent}/a`, 0);
    await session.remove(parent);
  });

  it.each([
    '',
    'a',
    '/a/',
    '//',
    '/a//b',
    '/.',
    '/a/..',
    '/a\u0000b',
    '/a\u0001',
    '/a\u007f',
    '/\ud800',
    '/😀',
    '/\uffff',
    7,
    undefined,
    null,
  ])('of the path %j come from every operation, without a crash', async (path) => {
    // biome-ignore format: one list
    const bad = path as string;
    const kinds = await Promise.all(
      [
        session.create(bad, bytes(''), 'persistent'),
        session.remove(bad),
        session.write(bad, bytes('')),
        session.read(bad),
        session.stat(bad),
        session.children(bad),
        session.sync(bad),
      ].map(kindOf),
    );
    expect(new Set(kinds)).toEqual(new Set(['invalid_argument']));
  });

  it.each([1.5, -2, 2 ** 31, Number.NaN, '1', null])('of the version %j come before it is sent', async (version) => {
    expect(await kindOf(session.write('/', bytes(''), version as number))).toBe('invalid_argument');
    expect(await kindOf(session.remove('/x', version as number))).toBe('invalid_argument');
  });
});

describe('children', () => {
  it('come with their parent’s stat, 5,000 of them too', async () => {
    const parent = freshPath();
    await session.create(parent, bytes(''), 'persistent');
    const made = await Promise.all(
      Array.from({ length: 5000 }, () => session.create(`${parent}/n-`, bytes(''), 'ephemeral_sequential')),
    );
    expect(made[0]).toBe(`${parent}/n-0000000000`);
    expect(made[4999]).toBe(`${parent}/n-0000004999`);
    const found = await session.children(parent);
    expect([...(found?.names ?? [])].sort()).toEqual(made.map((path) => path.slice(parent.length + 1)));
    expect(found?.stat).toMatchObject({ children: 5000, cversion: 5000, owner: null });
    await Promise.all(made.map((path) => session.remove(path)));
    expect(await session.children(parent)).toMatchObject({ names: [], stat: { children: 0 } });
    await session.remove(parent);
  });
});
