import { LeadershipLostError, type LossReason } from '../errors.js';
import type { Judgement } from './judgement.js';
import type { TermRecord } from './record.js';

const LOSS: Readonly<Record<LossReason, string>> = {
  lease_expired: 'no renewal was confirmed within the lease',
  session_expired: 'the ZooKeeper session expired',
  session_node_gone: 'the session node, to which renewals are written, was deleted',
  node_gone: 'its candidate node was deleted',
  superseded: 'the term record no longer stands behind it',
  resigned: 'it was resigned',
  paused: 'the election was paused',
  transferred: 'the leadership was transferred',
  held: 'this process was told to hold',
  closed: 'the connection was closed',
};

/** What the signal of a term is aborted with; `term` names it, as in "term 7 of …", and `detail` says who asked for it, and why. */
export function leadershipLost(reason: LossReason, term: string, detail?: string): LeadershipLostError {
  return new LeadershipLostError(
    reason,
    `${term} is over: ${LOSS[reason]}${detail === undefined ? '' : ` (${detail})`}`,
  );
}

/** Who asked for the end, and why, as the record says. */
export function asked(
  reason: LossReason,
  { pause, transfer, floor }: TermRecord,
  judgement: Judgement,
): string | undefined {
  if (reason === 'paused' && pause !== null) return `by ${pause.by}: ${pause.reason}`;
  if (reason === 'transferred' && transfer !== null) return `by ${transfer.by}: ${transfer.reason}`;
  if (reason !== 'superseded') return undefined;
  if (judgement === 'evicted') return 'it was evicted by an operator';
  return judgement === 'below_floor' ? `the floor was raised to ${floor}` : undefined;
}
