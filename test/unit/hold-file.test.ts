import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Holds } from '../../src/election/holds.js';
import { silentLogger } from '../../src/election/host.js';
import { HoldFile } from '../../src/hold-file.js';

let directory: string;
let path: string;
let holds: Holds;
let file: HoldFile;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tenure-hold-'));
  path = join(directory, 'run', 'hold');
  await mkdir(join(directory, 'run'));
  holds = new Holds();
  file = new HoldFile(path, holds, silentLogger);
});

afterEach(async () => {
  file.close();
  await rm(directory, { recursive: true });
});

const becomes = (reason: string | null) => expect.poll(() => holds.reason(null), { timeout: 10_000 }).toBe(reason);

it('holds while the file exists, for what its first line says', async () => {
  await file.watch();
  expect(holds.reason(null)).toBeNull();
  await writeFile(path, `a\tnew disk \nand more\n`);
  await becomes('a new disk');
  await rm(path);
  await becomes(null);
  await writeFile(path, 'ä'.repeat(5_000));
  await becomes('ä'.repeat(200));
  // With all that is above it.
  await rm(join(directory, 'run'), { recursive: true });
  await becomes(null);
  await writeFile(join(directory, 'run'), 'not a directory');
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(holds.reason(null)).toBeNull();
});

it('holds from the start, by whatever lies there: a directory, a link, a pipe without a writer, a device without an end', async () => {
  const target = join(directory, 'target');
  for (const [lay, reason] of [
    [() => mkdir(path), `${path} exists`],
    [() => writeFile(target, 'elsewhere').then(() => symlink(target, path)), 'elsewhere'],
    [async () => execFileSync('mkfifo', [path]), `${path} exists`],
    [() => symlink('/dev/zero', path), `${path} exists`],
    // A link to nothing is nothing.
    [() => symlink(join(directory, 'absent'), path), null],
  ] as const) {
    await lay();
    await file.watch();
    expect(holds.reason(null)).toBe(reason);
    file.close();
    await rm(path, { recursive: true });
    holds = new Holds();
    file = new HoldFile(path, holds, silentLogger);
  }
});

it('says nothing more once it is closed', async () => {
  const watching = file.watch();
  file.close();
  await watching;
  await writeFile(path, 'too late');
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(holds.reason(null)).toBeNull();
});
