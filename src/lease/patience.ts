/**
 * How much longer than the old lease its successor waits. Two monotonic clocks within 5 % of one
 * another: while ours counts 1.06 leases, the old leader's counts at least 1.06 / 1.05 > 1.
 */
export const PATIENCE_FACTOR = 1.06;

/**
 * What the successor knows of the leader's last sign of life, dated by its own monotonic clock
 * (which stands still while this machine is suspended: that can only lengthen the wait).
 *
 * - `unseen`: nothing; count from the vacancy.
 * - `armed`: the newest renewal was seen at `at`, and a watch has been in place ever since: had
 *   there been a newer one, we would have been told of it before the vacancy.
 * - `gap`: something newer has been announced but not read yet; it may be as new as this moment.
 */
export type Sightings =
  | { readonly kind: 'unseen' }
  | { readonly kind: 'gap' }
  | { readonly kind: 'armed'; readonly at: number };

/** The moment from which patience counts, given when the vacancy was seen. */
export function patienceBasis(sightings: Sightings, vacancyAt: number): number {
  return sightings.kind === 'armed' ? Math.min(sightings.at, vacancyAt) : vacancyAt;
}

/** The monotonic moment at which the old lease is certainly over, `takeoverDelayMs` later where the user asks for more. */
export function patienceEnds(basis: number, oldLeaseMs: number, takeoverDelayMs = 0): number {
  return basis + oldLeaseMs * PATIENCE_FACTOR + takeoverDelayMs;
}
