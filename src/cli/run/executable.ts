import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CommandFailure } from '../usage-error.js';
import { RUN_EXIT } from './exit-codes.js';

/**
 * Finds what `spawn` will find, before anything is begun: nobody shall lead for a command that can't be started.
 *
 * @returns its path
 * @throws {CommandFailure} with code 127 where there is no such command, 126 where it can't be executed
 */
export function findExecutable(name: string, path: string | undefined): string {
  if (name === '') throw new CommandFailure(RUN_EXIT.notFound, 'COMMAND_NOT_FOUND', 'the command is empty text');
  const candidates = name.includes('/')
    ? [name]
    : (path ?? '/usr/bin:/bin').split(delimiter).map((at) => join(at, name));
  let found: string | null = null;
  for (const candidate of candidates) {
    try {
      if (!statSync(candidate).isFile()) {
        found ??= name.includes('/') ? candidate : null;
        continue;
      }
      found ??= candidate;
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not here, or not for us.
    }
  }
  if (found !== null) throw notExecutable(found, 'it is no file, or its permissions forbid it');
  const where = name.includes('/') ? '' : ' in PATH';
  throw new CommandFailure(
    RUN_EXIT.notFound,
    'COMMAND_NOT_FOUND',
    `there is no command ${JSON.stringify(name)}${where}`,
  );
}

/** What `spawn` said of a command that was found: its interpreter is missing, it is for another machine, and the like. */
export function spawnFailure(name: string, error: NodeJS.ErrnoException): CommandFailure {
  return notExecutable(name, error.code === 'ENOENT' ? 'its interpreter is missing' : error.message);
}

function notExecutable(name: string, why: string): CommandFailure {
  return new CommandFailure(
    RUN_EXIT.notExecutable,
    'COMMAND_NOT_EXECUTABLE',
    `${JSON.stringify(name)} can't be executed: ${why}`,
  );
}
