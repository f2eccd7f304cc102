import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onExit } from './reaper.js';

/** A server's folder: one that was asked for and stays, or a temporary one that goes. */
export interface Workspace {
  readonly path: string;
  /** Removes a temporary folder, unless `TENURE_KEEP` is set. */
  dispose(): void;
}

export function workspace(kind: string, wanted?: string): Workspace {
  if (wanted !== undefined) {
    const path = resolve(wanted);
    mkdirSync(path, { recursive: true });
    return { path, dispose() {} };
  }
  const path = mkdtempSync(join(tmpdir(), `tenure-${kind}-`));
  chmodSync(path, 0o711); // Servers that won't run as root must be able to pass.
  const remove = (): void => {
    if (!process.env['TENURE_KEEP']) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  };
  const forget = onExit(remove);
  return {
    path,
    dispose() {
      forget();
      remove();
    },
  };
}
