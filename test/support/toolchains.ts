import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '../../deploy/local/cache.js';
import { lock } from '../../deploy/local/lock.js';
import { MissingToolError } from '../../deploy/local/missing-tool.js';
import { findTool, type Tool } from './tools.js';

/**
 * Programs in other languages: their libraries are fetched once into the cache, by the manifest that names them, and their
 * sources compiled there. Never into the tree.
 */

/** A Python with what `requirements` (a file) pins. @returns the interpreter */
export async function pythonWith(requirements: string): Promise<string> {
  const python = tool('python3');
  const directory = await made(`python-${digest([requirements])}`, async (place) => {
    await run(python, ['-m', 'venv', place]);
    await run(join(place, 'bin', 'python'), ['-m', 'pip', 'install', '-q', '-r', requirements]);
  });
  return join(directory, 'bin', 'python');
}

/**
 * Java sources compiled against what a pom depends on.
 *
 * @param folders where the sources are
 * @param pom whose dependencies are fetched; none where the sources need none
 * @returns the class path
 */
export async function javaClasses(folders: readonly string[], pom?: string): Promise<string> {
  const javac = tool('javac');
  const library = pom === undefined ? [] : await javaLibrary(pom);
  const sources = folders.flatMap((folder) => filesBelow(folder, '.java'));
  const name = `java-classes-${digest([...sources, ...(pom === undefined ? [] : [pom])])}`;
  const classes = await made(name, async (place) => {
    const path = library.length === 0 ? [] : ['-cp', library.join(':')];
    await run(javac, ['--release', '17', '-Xlint:all,-processing', '-Werror', '-d', place, ...path, ...sources]);
  });
  return [classes, ...library].join(':');
}

/** The jars that a pom depends on. */
async function javaLibrary(pom: string): Promise<string[]> {
  const mvn = tool('mvn');
  const directory = await made(`java-library-${digest([pom])}`, async (place) => {
    await run(mvn, ['-B', '-q', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${place}`]);
  });
  return filesBelow(directory, '.jar');
}

/** A Go program, built. @param folder the main package's, in its module @returns the executable */
export async function goProgram(folder: string): Promise<string> {
  const go = tool('go');
  const directory = join(cacheDirectory(), 'go', 'bin');
  const program = join(directory, `${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`);
  const held = await lock(`${program}.lock`);
  try {
    await run(go, ['build', '-o', program, '.'], folder, goEnvironment());
  } finally {
    held.release();
  }
  return program;
}

/** What `go` is to be started with: its caches in ours. */
export function goEnvironment(): NodeJS.ProcessEnv {
  const directory = join(cacheDirectory(), 'go');
  return {
    ...process.env,
    GOMODCACHE: join(directory, 'mod'),
    GOCACHE: join(directory, 'build'),
    GOTOOLCHAIN: 'local',
    GOFLAGS: '-mod=readonly',
  };
}

function tool(name: Tool): string {
  const path = findTool(name);
  if (path === undefined) throw new MissingToolError(`no ${name} found`);
  return path;
}

/** A folder in the cache that is made as a whole or not at all; of several processes one makes it. */
async function made(name: string, make: (directory: string) => Promise<void>): Promise<string> {
  const directory = join(cacheDirectory(), name);
  const done = join(directory, '.made');
  if (existsSync(done)) return directory;
  const held = await lock(`${directory}.lock`);
  try {
    if (existsSync(done)) return directory;
    // Made in its place, as a Python environment can't be moved; the mark comes last.
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    await make(directory);
    mkdirSync(done);
    return directory;
  } finally {
    held.release();
  }
}

function digest(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 8);
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && statSync(join(folder, name)).isFile())
    .map((name) => join(folder, name))
    .sort();
}

async function run(command: string, args: readonly string[], cwd?: string, env?: NodeJS.ProcessEnv): Promise<void> {
  try {
    const options = {
      maxBuffer: 2 ** 24,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
    };
    await promisify(execFile)(command, [...args], options);
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
    throw new Error(`${command} failed: ${(stdout + stderr).trim().slice(-4_000) || message}`, { cause: error });
  }
}
