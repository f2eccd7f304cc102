import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
// Inside node_modules, where the compiled files find the project's dependencies.
const out = join(project, 'node_modules/.cache/tenure-bench');

let built = false;

/**
 * Imports a file of `src/` as users get it: compiled by tsc. What runs TypeScript directly (tsx) names every function
 * as it is made, which is a good part of the microseconds that are measured here.
 */
export async function compiled<Module>(path: string): Promise<Module> {
  if (!built) {
    const tsc = join(project, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', out], {
      cwd: project,
      encoding: 'utf8',
    });
    if (!existsSync(join(out, path))) throw new Error(`tsc did not compile src/: ${stdout}`);
    built = true;
  }
  return (await import(pathToFileURL(join(out, path)).href)) as Module;
}
