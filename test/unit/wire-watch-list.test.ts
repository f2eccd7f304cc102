import { expect, it } from 'vitest';
import { FrameReader } from '../../src/zookeeper/wire/frames.js';
import { JuteReader } from '../../src/zookeeper/wire/jute.js';
import { WatchList } from '../../src/zookeeper/wire/watch-list.js';

/** What the frames say: the paths by kind, in the protocol's order. */
function read(frames: readonly Buffer[]): { since: bigint; lists: string[][] }[] {
  return frames.map((whole) => {
    const [payload = Buffer.alloc(0)] = new FrameReader(2 ** 20).push(whole);
    const reader = new JuteReader(payload);
    expect([reader.int(), reader.int()]).toEqual([-8, 105]);
    const since = reader.long();
    const lists = Array.from({ length: 5 }, () => reader.list(4, () => reader.text()));
    expect(reader.remaining).toBe(0);
    return { since, lists };
  });
}

it('leaves again what was left and has not fired, each under its kind', () => {
  const watches = new WatchList();
  expect(watches.frames(7n)).toEqual([]);
  watches.left('data', '/both');
  watches.left('children', '/both');
  watches.left('exist', '/absent');
  watches.left('persistent', '/stays');
  watches.left('recursive', '/deep');
  watches.left('data', '/fired');
  expect(watches.fired('/fired', 'changed')).toBe(true);
  expect(watches.fired('/fired', 'changed')).toBe(false);
  expect(watches.fired('/both', 'children')).toBe(true);
  expect(read(watches.frames(7n))).toEqual([{ since: 7n, lists: [['/both'], ['/absent'], [], ['/stays'], ['/deep']] }]);
});

it('a deletion takes out all that fire once, and none that stays', () => {
  const watches = new WatchList();
  for (const kind of ['data', 'exist', 'children', 'persistent'] as const) watches.left(kind, '/n');
  expect(watches.fired('/n', 'deleted')).toBe(true);
  expect(read(watches.frames(1n))[0]?.lists).toEqual([[], [], [], ['/n'], []]);
  expect(watches.fired('/n', 'created')).toBe(true);
  watches.removed('/n');
  expect(watches.frames(1n)).toEqual([]);
});

it('a recursive watch explains what happens below it, until it is taken back', () => {
  const watches = new WatchList();
  expect(watches.fired('/a/b/c', 'created')).toBe(false);
  watches.left('recursive', '/a');
  watches.left('recursive', '/a');
  expect(watches.fired('/a/b/c', 'created')).toBe(true);
  expect(watches.fired('/a', 'deleted')).toBe(true);
  expect(watches.fired('/ab', 'created')).toBe(false);
  watches.removed('/a');
  expect(watches.fired('/a/b/c', 'created')).toBe(false);
  watches.left('recursive', '/');
  expect(watches.fired('/anything', 'changed')).toBe(true);
});

it('cuts a long list into frames that a server takes', () => {
  const watches = new WatchList();
  const paths = Array.from({ length: 5_000 }, (_, i) => `/tenure/some-election/queue/_c_${'x'.repeat(80)}-${i}`);
  for (const path of paths) watches.left('data', path);
  const frames = watches.frames(1n);
  expect(frames.length).toBeGreaterThan(3);
  for (const frame of frames) expect(frame.length).toBeLessThan(200_000);
  expect(read(frames).flatMap(({ lists }) => lists[0])).toEqual(paths);
});
