import { decodeCandidate, isForeign } from './candidate.js';
import type { Children, Session, Stat } from './port.js';
import { inOrder, sequenceHeadroom } from './queue.js';

/** What the queue tells without its candidates. For measuring only. */
export interface Census {
  /** How many stand in the queue, the leader among them. */
  readonly candidates: number;
  /** How many more the queue can number before ZooKeeper's counter ends. */
  readonly headroom: number;
  /** Whether a candidate of another library is first, and so leads; null where that was not asked for. */
  readonly foreignLeader: boolean | null;
}

/**
 * One small read whatever the queue's length; `who` leads takes the list of the queue too.
 *
 * @throws {CoordinatorError} when no server answers: it isn't tried again
 */
export async function takeCensus(session: Session, queuePath: string, who: boolean): Promise<Census | null> {
  if (!who) {
    const stat = await session.stat(queuePath);
    return stat && { ...counted(stat), foreignLeader: null };
  }
  const children = await session.children(queuePath);
  return children && { ...counted(children.stat), foreignLeader: await foreignFirst(session, queuePath, children) };
}

function counted({ cversion, children }: Stat): Pick<Census, 'candidates' | 'headroom'> {
  // ZooKeeper numbers the next candidate by the creations so far; cversion is twice those less the children, and has
  // wrapped around 32 bits by the time that half of the numbers are used up.
  const created = ((cversion + children) >>> 0) / 2;
  return { candidates: children, headroom: sequenceHeadroom(created) };
}

async function foreignFirst(session: Session, queuePath: string, { names }: Children): Promise<boolean> {
  const [first] = inOrder(names);
  if (first === undefined) return false;
  const found = await session.read(`${queuePath}/${first}`);
  // A node that nobody owns stands for no process.
  return found !== null && found.stat.owner !== null && isForeign(first, decodeCandidate(found.data));
}
