import type { Contest } from './contest.js';
import type { Host } from './host.js';
import { createBelow } from './nodes.js';
import { OwnNodeWatch } from './own-node.js';
import { removeSurely, untilAnswered } from './persistence.js';
import type { Attachment, Session } from './port.js';
import { aheadOf, candidateUuid, checkHeadroom, inOrder, nodePrefix, uuidOf } from './queue.js';

/** A place in the queue: our node, and who stood before it, first come first. */
export interface Place {
  readonly node: string;
  readonly queue: readonly string[];
  /** Of our node: not armed yet, so nobody has asked whether it is this session's. */
  readonly watch: OwnNodeWatch;
}

/**
 * Joins the queue: one node of ours in it.
 *
 * Survives lost replies without searching: after one we simply create again, under the same uuid.
 * A create that is *confirmed* came after the lost one was applied or dropped, so the list read
 * behind it shows both; the earlier is kept.
 *
 * Where thousands join at once all nodes are made before the first list is read: the places are what counts, and a session's
 * writes and reads by turns are slow.
 *
 * Not abortable once the node is being made: who no longer wants the place waits for it in the background and gives it up, so
 * that nothing is ever left behind.
 *
 * @returns null when it was no longer wanted at its turn, or our node was deleted while we joined
 */
export async function enqueue(
  host: Host,
  { session, turns }: Pick<Attachment, 'session' | 'turns'>,
  contest: Pick<Contest, 'paths' | 'nodePrefix' | 'data'>,
  wanted: () => boolean,
): Promise<Place | null> {
  const queuePath = contest.paths.queue;
  const uuid = candidateUuid(host.uuid());
  const path = `${queuePath}/${nodePrefix(uuid, contest.nodePrefix)}`;
  const created = await turns.take(async () =>
    // Given up before its turn: nothing is made that would have to be taken away.
    wanted()
      ? untilAnswered(host, session, () => createBelow(session, queuePath, path, contest.data, 'ephemeral_sequential'))
      : null,
  );
  if (created === null) return null;
  const node = created.slice(queuePath.length + 1);
  let names: readonly string[];
  try {
    checkHeadroom(node, queuePath);
    names = await turns.take(() => listed(host, session, queuePath), 'last');
  } catch (error) {
    // Refused what comes behind the create: a node that nobody stands for would block the queue while the session lives.
    void removeSurely(host, session, created);
    throw error;
  }
  // An earlier one where a create whose reply was lost had been applied: that node is ours, and stands further ahead.
  const [kept, ...extra] = names.filter((name) => uuidOf(name) === uuid);
  for (const later of extra) void removeSurely(host, session, `${queuePath}/${later}`);
  if (kept === undefined) return null;
  return { node: kept, queue: aheadOf(names, kept), watch: new OwnNodeWatch(host, session, `${queuePath}/${kept}`) };
}

/** The candidates of a queue in order; none where there is no queue. */
export async function listed(host: Host, session: Session, queuePath: string): Promise<string[]> {
  const children = await untilAnswered(host, session, () => session.children(queuePath));
  return inOrder(children?.names ?? []);
}
