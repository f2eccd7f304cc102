import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileGuard } from '../../../src/fencing/file.js';
import { folderOf } from '../../../src/fencing/file-layout.js';
import { FenceReleasedError, InvalidResourceError } from '../../../src/fencing/index.js';
import { fakeTerm } from '../../conformance/terms.js';
import { startChild } from './child.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tenure-file-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('a writer frozen in another process', () => {
  // The third time it is asked is right before the rename; the others are before the check.
  for (const freezeAt of [1, 2, 3]) {
    test(`at its assert number ${freezeAt}: a newer term publishes at once, and stays published when it wakes`, async () => {
      const child = startChild('./frozen-publisher.ts', [directory, String(freezeAt)]);
      try {
        await child.frozen();
        const guard = fileGuard({ directory });
        const start = performance.now();
        await guard.publish(fakeTerm(2n, { leaderId: 'newer' }), 'report', 'out/report.txt', 'from the newer term');
        expect(performance.now() - start).toBeLessThan(1_000);
        child.thaw();
        expect(await child.line()).toBe('STALE_TOKEN');
        expect(await readFile(join(directory, 'out/report.txt'), 'utf8')).toBe('from the newer term');
      } finally {
        child.kill();
      }
    });
  }

  test('there is no other moment: it asks three times', async () => {
    const child = startChild('./frozen-publisher.ts', [directory, '99']);
    expect(await child.line()).toBe('published after 3');
  });
});

describe('paths', () => {
  test.each([
    '../out',
    'a/../../out',
    '/etc/passwd',
    'a//b',
    './a',
    'a/.',
    '',
    'a\\..\\b',
    '.tenure/x',
    '.TENURE/x',
    'a\0b',
  ])('%j is refused', async (path) => {
    const guard = fileGuard({ directory: join(directory, 'inside') });
    await expect(guard.publish(fakeTerm(1n), 'r', path, 'x')).rejects.toBeInstanceOf(InvalidResourceError);
    expect((await readdir(directory)).filter((name) => name !== 'inside')).toEqual([]);
    expect(await guard.highest('r')).toBeNull();
  });

  test('a link that leads out is not followed, nor are folders made behind it; a link as the file itself is replaced', async () => {
    const outside = join(directory, 'outside');
    const inside = join(directory, 'inside');
    await mkdir(outside);
    await mkdir(inside);
    await writeFile(join(outside, 'kept'), 'kept');
    await symlink(outside, join(inside, 'door'));
    await symlink(join(outside, 'kept'), join(inside, 'file'));
    const guard = fileGuard({ directory: inside });
    await expect(guard.publish(fakeTerm(1n), 'r', 'door/x', 'x')).rejects.toBeInstanceOf(InvalidResourceError);
    await expect(guard.publish(fakeTerm(1n), 'r', 'door/deep/x', 'x')).rejects.toBeInstanceOf(InvalidResourceError);
    await guard.publish(fakeTerm(1n), 'r', 'file', 'new');
    expect(await readdir(outside)).toEqual(['kept']);
    expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('kept');
    expect(await readFile(join(inside, 'file'), 'utf8')).toBe('new');
  });
});

test('names of folders stay apart where case is ignored, and cannot climb', () => {
  const names = ['a', 'A', '..', '.', '/', 'é', 'É', '%41', '~', 'x'.repeat(512), `${'x'.repeat(511)}y`].map(folderOf);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9_%~-]{1,200}$/);
});

test('leaves nothing behind: one fence, no staged files, no holds, no trash', async () => {
  for (const token of [1n, 2n, 3n]) {
    const guard = fileGuard({ directory });
    await guard.publish(fakeTerm(token), 'r', 'file', String(token));
    await guard.hold(fakeTerm(token), 'r', (hold) => hold.publish('file', 'held'));
    await fileGuard({ directory })
      .publish(fakeTerm(0n + token - 1n || 1n), 'r', 'file', 'stale')
      .catch(() => undefined);
  }
  const state = join(directory, '.tenure', 'r');
  expect(await readdir(join(state, 'fence'))).toEqual(['0000000000000000003']);
  expect(await readdir(join(state, 'trash'))).toEqual([]);
  for (const folder of ['staging', 'holds']) {
    for (const token of await readdir(join(state, folder)))
      expect(await readdir(join(state, folder, token))).toEqual([]);
  }
  expect(await readdir(directory)).toEqual(['.tenure', 'file']);
});

test('a hold that was left by a dead process ends by itself', async () => {
  const guard = fileGuard({ directory });
  await guard.check(fakeTerm(1n), 'device');
  // As left by a process that was killed in its hold.
  const folder = join(directory, '.tenure', 'device', 'holds', '1'.padStart(19, '0'));
  await mkdir(folder, { recursive: true });
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  const until = Number(process.hrtime.bigint() / 1_000_000n) + 300;
  await writeFile(join(folder, 'dead'), JSON.stringify({ boot: boot.trim(), until }));
  await writeFile(join(folder, 'of-an-earlier-boot'), JSON.stringify({ boot: 'another', until: until + 1e9 }));
  await writeFile(join(folder, 'rubbish'), 'rubbish');
  const start = performance.now();
  await guard.check(fakeTerm(2n), 'device');
  expect(performance.now() - start).toBeGreaterThan(200);
  expect(performance.now() - start).toBeLessThan(1_500);
});

test('what is published after the hold has ended is refused', async () => {
  const guard = fileGuard({ directory });
  const hold = await guard.hold(fakeTerm(1n), 'r', (held) => held);
  await expect(hold.publish('file', 'late')).rejects.toBeInstanceOf(FenceReleasedError);
});
