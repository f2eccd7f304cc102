import { CoordinatorError, type CoordinatorErrorKind } from '../errors.js';
import type { CreateMode, Session } from './port.js';

const NOTHING = new Uint8Array(0);

/** Whether `error` is a coordinator's error of one of these kinds. */
export function isKind(error: unknown, ...kinds: CoordinatorErrorKind[]): error is CoordinatorError {
  return error instanceof CoordinatorError && kinds.includes(error.kind);
}

/**
 * Creates a persistent path with all its parents, the chroot's own root among them. One that exists is left as it is.
 *
 * For where something is missing: the path and its parent are asked for in one breath, which is all that a new election lacks.
 */
export async function ensurePath(session: Session, path: string): Promise<void> {
  const parent = path.slice(0, path.lastIndexOf('/'));
  // The path is sent behind its parent, and so applied behind it.
  const [above, made] = await Promise.allSettled([parent === '' ? true : make(session, parent), make(session, path)]);
  if (made.status === 'rejected') throw made.reason;
  if (made.value) {
    // There it is, and its parent too. That one may only not be ours to make; made by us and failed then, as where it couldn't be
    // closed to others, it must not pass.
    if (above.status === 'rejected' && !(await forbidden(session, parent))) throw above.reason;
    return;
  }
  await ensurePath(session, parent);
  // Once more, not a plain create: somebody else may make the same path at this moment.
  await ensurePath(session, path);
}

/** Creates it if it isn't there. @returns false where its parent is missing */
async function make(session: Session, path: string): Promise<boolean> {
  try {
    await session.create(path, NOTHING, 'persistent');
    return true;
  } catch (error) {
    if (isKind(error, 'node_exists')) return true;
    if (isKind(error, 'no_node') && path.lastIndexOf('/') > 0) return false;
    throw error;
  }
}

/** Whether it isn't ours to make: the server looks at that before it looks whether it is there. */
async function forbidden(session: Session, path: string): Promise<boolean> {
  try {
    await make(session, path);
    return false;
  } catch (error) {
    if (isKind(error, 'no_auth')) return true;
    throw error;
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
