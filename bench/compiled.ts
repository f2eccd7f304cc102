import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));

/** Where all processes keep what they have compiled, each in a folder of its own: several compile at a time. */
const shared = join(project, 'node_modules/.cache/tenure-compiled');

/** Where it is compiled already: by this process, or by one that has started it. */
const COMPILED = 'TENURE_COMPILED';

/**
 * Compiles `src/` with tsc, as users get it, once in this process and those that it starts. What runs TypeScript directly (tsx)
 * starts slowly, and names every function as it is made.
 *
 * @returns where the compiled files are: inside node_modules, where they find the project's dependencies
 */
export function compileSource(): string {
  process.env[COMPILED] ??= compile();
  return process.env[COMPILED];
}

/** Compiles again, where the source may have changed. */
export function compileAgain(): void {
  process.env[COMPILED] = compile();
}

function compile(): string {
  sweep();
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
function sweep(): void {
  for (const pid of existsSync(shared) ? readdirSync(shared) : []) {
    if (!runs(Number(pid))) rmSync(join(shared, pid), { recursive: true, force: true });
  }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Imports a file of `src/`, compiled. */
export async function compiled<Module>(path: string): Promise<Module> {
  return (await import(pathToFileURL(join(compileSource(), path)).href)) as Module;
}
