/** A write: when it was sent, and when the quorum's word came; both by one monotonic clock, in milliseconds. */
export interface Write {
  readonly sentAt: number;
  readonly confirmedAt: number;
}

/** Of renewals sent without end: how long a leader had nothing newer than a renewal sent that long ago. */
export interface Silence {
  /** When it ended. */
  readonly at: number;
  readonly ms: number;
}

/**
 * A lease counts from the send time of the last confirmed renewal. So at each confirmation the lease had run for the time
 * since the newest renewal that was confirmed before was sent: that is what a lease must outlast, whatever the reason
 * was, a slow disk, a busy network, an ensemble without leader, or this process standing still. Writes that failed are
 * simply not among those given.
 */
export function silences(writes: readonly Write[]): Silence[] {
  const found: Silence[] = [];
  let newest: number | null = null;
  for (const { sentAt, confirmedAt } of [...writes].sort((a, b) => a.confirmedAt - b.confirmedAt)) {
    if (newest !== null) found.push({ at: confirmedAt, ms: confirmedAt - newest });
    if (newest === null || sentAt > newest) newest = sentAt;
  }
  return found;
}

/** The longest silence of each whole block, so that one trouble counts once. */
export function blockMaxima(found: readonly Silence[], blockMs: number): number[] {
  const start = found[0]?.at;
  if (start === undefined) return [];
  const maxima = new Map<number, number>();
  for (const { at, ms } of found) {
    const block = Math.floor((at - start) / blockMs);
    maxima.set(block, Math.max(maxima.get(block) ?? 0, ms));
  }
  return [...maxima.values()];
}
