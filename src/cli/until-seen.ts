import type { ElectionView } from '../election/view.js';
import type { Election } from '../index.js';
import { anyOf } from '../signals.js';

/**
 * Follows an election until a view of it is as wanted.
 *
 * @param waitMs how long at most, in milliseconds
 * @returns that view; null where there was none in time
 */
export async function untilSeen(
  election: Election,
  waitMs: number,
  signal: AbortSignal,
  wanted: (view: ElectionView) => boolean,
): Promise<ElectionView | null> {
  const late = AbortSignal.timeout(waitMs);
  try {
    for await (const view of election.observe({ signal: anyOf([signal, late]) })) {
      if (wanted(view)) return view;
    }
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
  }
  return null;
}
