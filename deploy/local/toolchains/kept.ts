import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '../cache.js';
import { lock } from '../lock.js';

/**
 * A folder of the cache that is filled once, by one process while the others wait. Its name has to tell what it was made
 * from: it is never looked into again. One that was left half filled is filled anew.
 */
export async function kept(name: string, fill: (directory: string) => Promise<void>): Promise<string> {
  const directory = join(cacheDirectory(), name);
  const complete = join(directory, '.complete');
  if (existsSync(complete)) return directory;
  const held = await lock(`${directory}.lock`);
  try {
    if (existsSync(complete)) return directory;
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    await fill(directory);
    writeFileSync(complete, '');
    return directory;
  } finally {
    held.release();
  }
}
