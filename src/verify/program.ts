import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What Node.js is told to run a program of ours: compiled, or from its source where all of this does. */
export function programOf(compiled: URL): readonly string[] {
  const file = fileURLToPath(compiled);
  if (existsSync(file)) return [file];
  return ['--import', createRequire(import.meta.url).resolve('tsx'), file.replace(/\.js$/, '.ts')];
}
