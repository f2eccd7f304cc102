import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Eight hex digits that change with any of the parts. */
export function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}\n`).update(part);
  return hash.digest('hex').slice(0, 8);
}

/** The files below a folder that end like this, by their paths. */
export function filesIn(directory: string, ending: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(directory, name));
}

/** Changes with the files' names and with what is in them. */
export function digestOf(directory: string, files: readonly string[]): string {
  return digest(...files.flatMap((file) => [relative(directory, file), readFileSync(file)]));
}
