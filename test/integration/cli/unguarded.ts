import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileHold } from '../../../src/fencing/file.js';
import type { Guard } from '../../../src/fencing/index.js';

/** Replaces files as the file guard does, and looks at no token. */
export function unguarded(directory: string): Pick<Guard<FileHold>, 'hold'> {
  return {
    hold: async (_term, _resource, work) =>
      work({
        publish: async (path, data) => {
          const target = join(directory, path);
          await mkdir(dirname(target), { recursive: true });
          const staged = join(directory, randomUUID());
          await writeFile(staged, data);
          await rename(staged, target);
        },
      }),
  };
}
