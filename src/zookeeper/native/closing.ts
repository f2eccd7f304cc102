import type { CreateMode, Stat } from '../../election/port.js';
import { CoordinatorError } from '../../errors.js';
import type { Acl } from '../acl.js';

/** What closing a znode takes of a session. */
export interface Closable {
  setAcl(path: string, acl: readonly Acl[]): Promise<void>;
  stat(path: string): Promise<Stat | null>;
  remove(path: string): Promise<void>;
}

/** Before what was lost with a connection is asked again, in milliseconds. */
const AGAIN_MS = 100;

/**
 * Closes a znode right after its creation, as the C client can only create it open to the world.
 *
 * In the gap anybody may do anything to it. So an ephemeral one counts only if it is certainly ours: closed by us, its data
 * as we wrote it. Otherwise it is deleted, and its creation rejects. Nobody else has a reason to write it in the gap; others of
 * our fleet may well write a persistent one, so that is closed and not judged. `tenure provision` makes those beforehand.
 *
 * @returns the path; also where the znode has gone meanwhile, as that may happen at any time
 * @throws {CoordinatorError} `no_auth` where somebody was faster; of a retriable kind where it was deleted over a lost connection
 */
export async function closeNode(
  session: Closable,
  path: string,
  mode: CreateMode,
  acl: readonly Acl[],
): Promise<string> {
  if (mode === 'persistent') await closePersistent(session, path, acl);
  else await closeEphemeral(session, path, acl);
  return path;
}

async function closeEphemeral(session: Closable, path: string, acl: readonly Acl[]): Promise<void> {
  // Sent in one breath, answered in this order: what is seen is how it was when it was closed, or something of ours.
  const [closed, seen] = await Promise.allSettled([session.setAcl(path, acl), session.stat(path)]);
  const error = closed.status === 'rejected' ? closed.reason : seen.status === 'rejected' ? seen.reason : null;
  if (error === null) {
    const stat = (seen as PromiseFulfilledResult<Stat | null>).value;
    if (stat === null || stat.version === 0) return;
    await removed(session, path);
    throw outpaced(path, 'its data was overwritten');
  }
  if (is(error, 'no_node')) return;
  await removed(session, path);
  throw is(error, 'no_auth') ? outpaced(path, 'its ACL was changed') : error;
}

async function closePersistent(session: Closable, path: string, acl: readonly Acl[]): Promise<void> {
  for (let unclear = false; ; unclear = true) {
    try {
      await session.setAcl(path, acl);
      return;
    } catch (error) {
      if (is(error, 'no_node')) return;
      // Closed by the attempt whose reply was lost, if the ACL leaves us no right to administer.
      if (is(error, 'no_auth') && unclear) return;
      if (is(error, 'no_auth')) throw outpaced(path, 'its ACL was changed');
      if (!mayRepeat(error)) throw error;
    }
    await pause();
  }
}

/** Deletes it until that is answered, or the session is over and the znode with it. Never rejects. */
async function removed(session: Closable, path: string): Promise<void> {
  for (;;) {
    try {
      return await session.remove(path);
    } catch (error) {
      if (!mayRepeat(error)) return;
    }
    await pause();
  }
}

function outpaced(path: string, what: string): CoordinatorError {
  return new CoordinatorError(
    'no_auth',
    'create',
    path,
    `${what} by somebody else before it could be closed: keep others off the network of the ensemble, or use driver 'wire', ` +
      'which creates znodes closed',
  );
}

function is(error: unknown, kind: CoordinatorError['kind']): boolean {
  return error instanceof CoordinatorError && error.kind === kind;
}

function mayRepeat(error: unknown): boolean {
  if (!(error instanceof CoordinatorError)) return false;
  return error.retriable && error.kind !== 'session_expired' && error.kind !== 'session_closed';
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
}
