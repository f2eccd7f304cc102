import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));

const built = new Map<string, string>();

/** Where a process that starts others has compiled for them. */
const COMPILED = 'TENURE_COMPILED';

/**
 * Compiles `src/` with tsc, as users get it, once in this process and those that it starts. What runs TypeScript directly (tsx)
 * starts slowly, and names every function as it is made.
 *
 * @param name of the directory, in which each process has one of its own: several compile at a time
 * @returns where the compiled files are: inside node_modules, where they find the project's dependencies
 */
export function compileSource(name: string): string {
  const known = built.get(name) ?? process.env[COMPILED];
  if (known !== undefined) return known;
  const out = compile(name);
  built.set(name, out);
  return out;
}

/** Compiles once for all processes that this one will start. */
export function compileForChildren(name: string): void {
  process.env[COMPILED] = compile(name);
}

function compile(name: string): string {
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
  for (const file of ['openapi.json', 'page']) {
    cpSync(join(project, 'src/agent', file), join(out, 'agent', file), { recursive: true });
  }
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
