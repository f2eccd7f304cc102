import { ElectionInUseError, UnknownElectionError } from '../errors.js';
import { PATIENCE_FACTOR } from '../lease/patience.js';
import { type Host, sleep } from './host.js';
import { electionPaths, sessionsPath } from './names.js';
import { isKind } from './nodes.js';
import { untilAnswered } from './persistence.js';
import type { Session } from './port.js';
import { readRecord } from './reading.js';

/** What a removed election leaves for people to know. */
export interface Removed {
  /** The number of its last term. */
  readonly term: number;
  /** Its floor. It is forgotten: raise it again where an election of that name is to use the same resources. */
  readonly floor: bigint;
}

/**
 * Removes an election in which nobody stands, with its record and its history.
 *
 * A lease may outlive its leader's node, and whoever joins after the record is gone would not know of it. So the
 * last term's lease is waited out first where nobody announced its end.
 *
 * @throws {UnknownElectionError} {@link ElectionInUseError} {@link CoordinatorError}; `signal.reason` when aborted
 */
export async function removeElection(
  host: Host,
  session: Session,
  root: string,
  name: string,
  signal: AbortSignal,
): Promise<Removed> {
  const paths = electionPaths(root, name);
  const ask = <T>(operation: () => Promise<T>) => untilAnswered(host, session, operation, signal);
  await ask(() => session.sync('/'));
  const standing = async () => (await ask(() => session.children(paths.queue)))?.names ?? null;
  const queue = await standing();
  const { record, version } = await readRecord(host, session, paths.term, false);
  if (queue === null && version === -1) {
    throw new UnknownElectionError(`there is no election ${JSON.stringify(name)}: nothing is to be removed`);
  }
  if (queue !== null && queue.length > 0) throw inUse(name, `${queue.length} stand in its queue, ${queue[0]} for one`);
  const { latest } = record;
  if (latest !== null && (latest.ended === null || latest.ended.how === 'evicted')) {
    // It may stand in another queue than ours.
    const lives =
      latest.ended === null && (await ask(() => session.stat(`${sessionsPath(root)}/${latest.session}`))) !== null;
    if (lives) throw inUse(name, `the session of its last leader, ${latest.leaderId}, lives`);
    await sleep(host, latest.leaseMs * PATIENCE_FACTOR, signal);
  }
  const remove = async (path: string, expected: number): Promise<void> => {
    try {
      await ask(() => session.remove(path, expected));
    } catch (error) {
      if (isKind(error, 'not_empty', 'bad_version')) throw inUse(name, 'somebody has joined it meanwhile');
      if (!isKind(error, 'no_node')) throw error;
    }
  };
  // The queue first: it can only be removed while nobody stands in it; then the record, if nobody has claimed since.
  await remove(paths.queue, -1);
  if (version !== -1) await remove(paths.term, version);
  await remove(paths.history, -1);
  await removeEmpty(ask, session, root, paths.election);
  return { term: latest?.term ?? 0, floor: record.floor };
}

/** The election's own znode, and those above it, up to the root: each as long as nothing else lies there. */
async function removeEmpty(
  ask: <T>(operation: () => Promise<T>) => Promise<T>,
  session: Session,
  root: string,
  path: string,
): Promise<void> {
  for (let each = path; each.length > root.length; each = each.slice(0, each.lastIndexOf('/'))) {
    try {
      await ask(() => session.remove(each));
    } catch (error) {
      if (isKind(error, 'not_empty')) return;
      if (!isKind(error, 'no_node')) throw error;
    }
  }
}

function inUse(name: string, why: string): ElectionInUseError {
  return new ElectionInUseError(
    `${JSON.stringify(name)} is in use: ${why}. Stop its candidates, or evict those that are ghosts; then remove it`,
  );
}
