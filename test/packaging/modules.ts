import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Notes each ES module that is loaded. */
const HOOKS = `
  import { appendFileSync } from 'node:fs';
  export async function load(url, context, next) {
    if (url.startsWith('file:')) appendFileSync(process.env.LOADED, url + '\\n');
    return next(url, context);
  }
`;

/** The files that importing an entry point loads, ES modules and CommonJS alike; links are followed. */
export function modulesOf(entry: string, cwd: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'tenure-modules-'));
  try {
    const [hooks, program, list] = ['hooks.mjs', 'program.mjs', 'loaded.txt'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(hooks, HOOKS);
    writeFileSync(list, '');
    writeFileSync(
      program,
      `import Module, { register } from 'node:module';
       import { appendFileSync } from 'node:fs';
       register(${JSON.stringify(pathToFileURL(hooks).href)});
       await import(Module.createRequire(process.cwd() + '/package.json').resolve(${JSON.stringify(entry)}));
       appendFileSync(process.env.LOADED, Object.keys(Module._cache).join('\\n'));`,
    );
    execFileSync('node', [program], { cwd, env: { ...process.env, LOADED: list }, timeout: 60_000 });
    const paths = readFileSync(list, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => realpathSync(line.startsWith('file:') ? new URL(line) : line));
    return [...new Set(paths)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
