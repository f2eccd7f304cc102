import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/* That the measurement runs, by both drivers, with a few elections: what it measures here means little. */

it('measures many elections in one process, against the raw writes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tenure-many-'));
  const json = join(directory, 'many.json');
  const script = fileURLToPath(new URL('../../bench/many.ts', import.meta.url));
  const words = ['--pdeathsig', 'KILL', process.execPath, '--import', 'tsx', script, '--servers', '1', '--no-fsync'];
  const child = spawn('setpriv', [...words, '--elections', '50', '--json', json], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code, said).toBe(0);
  const samples = JSON.parse(readFileSync(json, 'utf8')) as Record<string, Record<string, readonly number[]>>;
  rmSync(directory, { recursive: true });
  for (const driver of ['native', 'wire']) {
    const all = Object.values(samples[driver] ?? {});
    expect(all.length).toBeGreaterThan(15);
    expect(all.flat().filter((sample) => !Number.isFinite(sample))).toEqual([]);
  }
}, 300_000);
