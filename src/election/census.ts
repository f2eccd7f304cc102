import type { Session } from './port.js';
import { sequenceHeadroom } from './queue.js';

/** What the queue's own node tells, in one small read whatever the queue's length. For measuring only. */
export interface Census {
  /** How many stand in the queue, the leader among them. */
  readonly candidates: number;
  /** How many more the queue can number before ZooKeeper's counter ends. */
  readonly headroom: number;
}

/** @throws {CoordinatorError} when no server answers: it isn't tried again */
export async function takeCensus(session: Session, queuePath: string): Promise<Census | null> {
  const stat = await session.stat(queuePath);
  if (stat === null) return null;
  // ZooKeeper numbers the next candidate by the creations so far; cversion is twice those less the children, and has
  // wrapped around 32 bits by the time that half of the numbers are used up.
  const created = ((stat.cversion + stat.children) >>> 0) / 2;
  return { candidates: stat.children, headroom: sequenceHeadroom(created) };
}
