import type { Token } from '../token.js';
import type { TermRecord } from './record.js';

/**
 * What a record says to the leader of one of its terms.
 *
 * - `ours`: go on.
 * - `superseded`: it names another term, or this one as ended. `evicted`: an operator has ended it.
 * - `paused`, `transferred`: an operator asks for the leadership.
 * - `below_floor`: the floor was raised to our token or above it: resources may refuse it, and a new one is to be had.
 */
export type Judgement = 'ours' | 'superseded' | 'evicted' | 'paused' | 'transferred' | 'below_floor';

/** Pause beats transfer; a term that has ended hears of neither. */
export function judge(record: TermRecord, token: Token, node: string): Judgement {
  const { latest, pause, transfer, floor } = record;
  if (latest === null || latest.token !== token) return 'superseded';
  if (latest.ended !== null) return latest.ended.how === 'evicted' ? 'evicted' : 'superseded';
  if (pause !== null) return 'paused';
  if (transfer !== null && transfer.to !== node) return 'transferred';
  return token <= floor ? 'below_floor' : 'ours';
}
