import { CoordinatorError, type CoordinatorErrorKind } from '../errors.js';
import type { CreateMode, Session } from './port.js';

const NOTHING = new Uint8Array(0);

/** Whether `error` is a coordinator's error of one of these kinds. */
export function isKind(error: unknown, ...kinds: CoordinatorErrorKind[]): error is CoordinatorError {
  return error instanceof CoordinatorError && kinds.includes(error.kind);
}

/** Creates a persistent path with all its parents, the chroot's own root among them. One that exists is left as it is. */
export async function ensurePath(session: Session, path: string): Promise<void> {
  try {
    await session.create(path, NOTHING, 'persistent');
  } catch (error) {
    if (isKind(error, 'node_exists')) return;
    if (!isKind(error, 'no_node') || path.lastIndexOf('/') <= 0) throw error;
    await ensurePath(session, path.slice(0, path.lastIndexOf('/')));
    // Once more, not a plain create: somebody else may make the same path at this moment.
    await ensurePath(session, path);
  }
}

/** Creates a child of `parent`, and the parent first where it is missing, or goes missing. @returns the child's path */
export async function createBelow(
  session: Session,
  parent: string,
  path: string,
  data: Uint8Array,
  mode: CreateMode,
): Promise<string> {
  for (;;) {
    try {
      return await session.create(path, data, mode);
    } catch (error) {
      if (!isKind(error, 'no_node')) throw error;
      await ensurePath(session, parent);
    }
  }
}
