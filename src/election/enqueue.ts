import type { Host } from './host.js';
import { createBelow } from './nodes.js';
import { OwnNodeWatch } from './own-node.js';
import { removeSurely, untilAnswered } from './persistence.js';
import type { Session } from './port.js';
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
 * Not abortable: who no longer wants the place waits for it in the background and gives it up, so
 * that nothing is ever left behind.
 *
 * @returns null when our node was deleted while we joined
 */
export async function enqueue(
  host: Host,
  session: Session,
  queuePath: string,
  prefix: string,
  data: Uint8Array,
): Promise<Place | null> {
  const uuid = candidateUuid(host.uuid());
  const path = `${queuePath}/${nodePrefix(uuid, prefix)}`;
  const created = await untilAnswered(host, session, () =>
    createBelow(session, queuePath, path, data, 'ephemeral_sequential'),
  );
  const node = created.slice(queuePath.length + 1);
  let names: readonly string[];
  try {
    checkHeadroom(node, queuePath);
    names = await listed(host, session, queuePath);
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
