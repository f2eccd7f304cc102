import { createHash } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '../../../src/election/port.js';
import { CoordinatorError } from '../../../src/errors.js';

/** Somebody with a password. */
export class Party {
  readonly name: string;
  readonly password: string;

  constructor(name: string, password = `secret-of-${name}`) {
    this.name = name;
    this.password = password;
  }

  /** For `connect()` and drivers. */
  get auth(): [{ scheme: 'digest'; credential: string }] {
    return [{ scheme: 'digest', credential: `${this.name}:${this.password}` }];
  }

  /** As ACLs name it. */
  get id(): string {
    const hash = createHash('sha1').update(`${this.name}:${this.password}`).digest('base64');
    return `${this.name}:${hash}`;
  }

  /** A file for `--auth-file`. */
  file(folder: string): string {
    const path = join(folder, `${this.name}.auth`);
    writeFileSync(path, `digest:${this.name}:${this.password}\n`);
    chmodSync(path, 0o600);
    return path;
  }
}

/** The kind of a refusal; `done` where it was none. */
export async function fate(operation: Promise<unknown>): Promise<string> {
  try {
    await operation;
    return 'done';
  } catch (error) {
    return error instanceof CoordinatorError ? error.kind : `${error}`;
  }
}

const FORGED = Buffer.from('{"v":1,"forged":true}');

/** What somebody may do to a znode, of all that could be tried; what is done stays done. */
export async function deeds(session: Session, path: string): Promise<string[]> {
  const tried = {
    read: session.read(path),
    list: session.children(path),
    write: session.write(path, FORGED, -1),
    create: session.create(`${path}/forged`, FORGED, 'persistent'),
    delete: session.remove(path),
  };
  const done: string[] = [];
  for (const [what, operation] of Object.entries(tried)) {
    // Not empty: by right it could be deleted.
    const kind = await fate(operation);
    if (kind !== 'no_auth') done.push(`${what}: ${kind}`);
  }
  return done;
}
