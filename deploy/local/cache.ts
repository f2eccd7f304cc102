import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectRoot = resolve(fileURLToPath(import.meta.url), '../../..');

/** The folder for what is fetched once: `.cache` at the project's root, or what `TENURE_CACHE` says. Made if absent. */
export function cacheDirectory(): string {
  const directory = resolve(process.env['TENURE_CACHE'] || join(projectRoot, '.cache'));
  mkdirSync(directory, { recursive: true });
  return directory;
}
