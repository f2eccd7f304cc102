import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What Node.js is told to run a program of ours: compiled, or from its source where all of this does. Null where it is neither. */
export function programAt(compiled: URL): readonly string[] | null {
  const file = fileURLToPath(compiled);
  if (existsSync(file)) return [file];
  const source = file.replace(/\.js$/, '.ts');
  return existsSync(source) ? ['--import', createRequire(import.meta.url).resolve('tsx'), source] : null;
}
