import { mkdirSync, renameSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { cacheDirectory } from '../cache.js';
import { command, runTool } from './command.js';
import { digest } from './digest.js';

/**
 * Builds the program in a folder of a Go module: its path. Go's own cache keeps what hasn't changed, so this is quick but for
 * the first time, when the modules are fetched as its `go.sum` pins them.
 *
 * @throws {MissingToolError}
 */
export async function goProgram(directory: string): Promise<string> {
  const go = command('go');
  const folder = join(cacheDirectory(), 'go');
  const program = join(folder, `${basename(directory)}-${digest(resolve(directory))}`);
  mkdirSync(folder, { recursive: true });
  // Renamed into place: a program that runs can't be written to.
  const draft = `${program}.${process.pid}.draft`;
  await runTool(`go build in ${directory}`, go, ['build', '-o', draft, '.'], { cwd: directory, env: goEnvironment() });
  renameSync(draft, program);
  return program;
}

/** What Go runs with: modules go to the cache, as files that can be deleted, and no other release of Go is fetched. */
export function goEnvironment(): NodeJS.ProcessEnv {
  return {
    GOMODCACHE: join(cacheDirectory(), 'go/mod'),
    GOCACHE: join(cacheDirectory(), 'go/build'),
    GOFLAGS: '-mod=readonly -modcacherw -buildvcs=false',
    GOTOOLCHAIN: 'local',
  };
}
