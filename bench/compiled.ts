import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));

const built = new Map<string, string>();

/**
 * Compiles `src/` with tsc, as users get it, once in this process. What runs TypeScript directly (tsx) starts slowly, and names
 * every function as it is made.
 *
 * @param name of the directory, in which each process has one of its own: several compile at a time
 * @returns where the compiled files are: inside node_modules, where they find the project's dependencies
 */
export function compileSource(name: string): string {
  const known = built.get(name);
  if (known !== undefined) return known;
  const shared = join(project, 'node_modules/.cache', name);
  sweep(shared);
  const home = join(shared, String(process.pid));
  const out = join(home, 'dist');
  const tsc = join(project, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', out], {
    cwd: project,
    encoding: 'utf8',
  });
  if (!existsSync(join(out, 'index.js'))) throw new Error(`tsc did not compile src/: ${stdout}`);
  copyFileSync(join(project, 'package.json'), join(home, 'package.json'));
  built.set(name, out);
  return out;
}

/** What processes have left that are gone. */
function sweep(directory: string): void {
  for (const pid of existsSync(directory) ? readdirSync(directory) : []) {
    if (runs(Number(pid))) continue;
    rmSync(join(directory, pid), { recursive: true, force: true });
  }
}

function runs(pid: number): boolean {
  try {
    // Not a number: an earlier layout of this directory.
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Imports a file of `src/`, compiled. */
export async function compiled<Module>(path: string): Promise<Module> {
  return (await import(pathToFileURL(join(compileSource('tenure-bench'), path)).href)) as Module;
}
