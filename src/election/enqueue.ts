import type { Self } from './campaign.js';
import type { Host } from './host.js';
import { createBelow } from './nodes.js';
import { OwnNodeWatch } from './own-node.js';
import { removeSurely, untilAnswered } from './persistence.js';
import type { Session } from './port.js';
import { aheadOf, candidateUuid, checkHeadroom, inOrder, nodePrefix, uuidOf } from './queue.js';

/** A place in the queue: our node, and who stood before it, first come first. */
export interface Place {
  readonly self: Self;
  readonly queue: readonly string[];
  readonly watch: OwnNodeWatch;
}

/**
 * Joins the queue: one node of ours in it, owned by this very session, and watched.
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
  const watch = new OwnNodeWatch(host, session, created);
  let names: readonly string[];
  let czxid: bigint | null;
  try {
    checkHeadroom(node, queuePath);
    // Sent together, answered in this order.
    [names, czxid] = await Promise.all([listed(host, session, queuePath), watch.arm()]);
  } catch (error) {
    // Refused what comes behind the create: a node that nobody stands for would block the queue while the session lives.
    watch.cancel();
    void removeSurely(host, session, created);
    throw error;
  }
  const [kept, ...extra] = names.filter((name) => uuidOf(name) === uuid);
  for (const later of extra) void removeSurely(host, session, `${queuePath}/${later}`);
  if (kept === node && czxid !== null) return { self: { node, czxid }, queue: aheadOf(names, node), watch };
  watch.cancel();
  return kept === undefined || kept === node ? null : earlier(host, session, queuePath, kept, names);
}

/** The create whose reply was lost had been applied: that node is ours, and stands further ahead. */
async function earlier(
  host: Host,
  session: Session,
  queuePath: string,
  node: string,
  names: readonly string[],
): Promise<Place | null> {
  const watch = new OwnNodeWatch(host, session, `${queuePath}/${node}`);
  const czxid = await watch.arm();
  if (czxid !== null) return { self: { node, czxid }, queue: aheadOf(names, node), watch };
  watch.cancel();
  return null;
}

/** The candidates of a queue in order; none where there is no queue. */
export async function listed(host: Host, session: Session, queuePath: string): Promise<string[]> {
  const children = await untilAnswered(host, session, () => session.children(queuePath));
  return inOrder(children?.names ?? []);
}
