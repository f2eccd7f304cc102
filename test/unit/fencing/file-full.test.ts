import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fileGuard } from '../../../src/fencing/file.js';
import { fakeTerm } from '../../conformance/terms.js';

/** Whether the disk has room. A file is written in part before it turns out that it hasn't, as on a real one. */
let hasRoom: () => Promise<boolean>;

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return {
    ...real,
    open: async (...args: Parameters<typeof real.open>) => {
      const file = await real.open(...args);
      const write = file.writeFile.bind(file);
      if (args[1] !== 'r') {
        file.writeFile = async (data) => {
          if (await hasRoom()) return await write(data);
          await write(String(data).slice(0, 1));
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        };
      }
      return file;
    },
  };
});

let directory: string;
const at = (...names: string[]) => join(directory, '.tenure', 'r', ...names);
const named = (token: number) => String(token).padStart(19, '0');
/** All files of the guard's state, wherever. */
const files = async () =>
  (await readdir(at(), { recursive: true, withFileTypes: true }))
    .filter((each) => each.isFile())
    .map((each) => each.name);

beforeEach(async () => {
  hasRoom = async () => true;
  directory = await mkdtemp(join(tmpdir(), 'tenure-full-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('on a full disk a guard fails, and leaves no part of what it wrote', async () => {
  const guard = fileGuard({ directory });
  await guard.publish(fakeTerm(1n), 'r', 'file', 'first');
  hasRoom = async () => false;
  await expect(guard.publish(fakeTerm(1n), 'r', 'file', 'second')).rejects.toMatchObject({ code: 'ENOSPC' });
  await expect(guard.hold(fakeTerm(1n), 'r', () => 'held')).rejects.toMatchObject({ code: 'ENOSPC' });
  await expect(guard.check(fakeTerm(2n), 'r')).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(await files()).toEqual([named(1)]);
  expect(await readFile(join(directory, 'file'), 'utf8')).toBe('first');
});

test('what an older term had staged makes room for a newer one', async () => {
  const stagedByOlder = async () => (await readdir(at('staging', named(1))).catch(() => [])).length > 0;
  for (const act of [
    () => fileGuard({ directory }).publish(fakeTerm(2n), 'r', 'file', 'new'),
    () => fileGuard({ directory }).check(fakeTerm(3n), 'r'),
    () => fileGuard({ directory }).hold(fakeTerm(4n), 'r', () => undefined),
  ]) {
    await mkdir(at('staging', named(1)), { recursive: true });
    await writeFile(at('staging', named(1), 'of-a-killed-process'), 'much');
    hasRoom = async () => !(await stagedByOlder());
    await act();
    expect(await stagedByOlder()).toBe(false);
  }
  expect(await readFile(join(directory, 'file'), 'utf8')).toBe('new');
});

test('what killed processes left in the trash is cleared away, and what a living one may be about to rename is not', async () => {
  const guard = fileGuard({ directory });
  await guard.check(fakeTerm(1n), 'r');
  await mkdir(at('trash', 'grave'), { recursive: true });
  await writeFile(at('trash', 'grave', 'staged'), 'x');
  await writeFile(at('trash', 'draft-old'), 'x');
  await utimes(at('trash', 'draft-old'), 1, 1);
  await writeFile(at('trash', 'draft-new'), 'x');
  await guard.publish(fakeTerm(1n), 'r', 'file', 'x');
  expect(await readdir(at('trash'))).toEqual(['draft-new']);
});

test('a state that was deleted under a living process is written again before the next write counts', async () => {
  const guard = fileGuard({ directory });
  await guard.publish(fakeTerm(5n), 'r', 'file', 'first');
  await rm(join(directory, '.tenure'), { recursive: true });
  await guard.publish(fakeTerm(5n), 'r', 'file', 'second');
  expect(await guard.highest('r')).toMatchObject({ token: 5n });
  await expect(fileGuard({ directory }).publish(fakeTerm(4n), 'r', 'file', 'old')).rejects.toMatchObject({
    highest: 5n,
  });
  expect(await readFile(join(directory, 'file'), 'utf8')).toBe('second');
});
