import type { Instant } from '../lease/clock.js';
import { elapsed, systemClock } from '../lease/clock.js';

/**
 * This moment by clocks that all processes of the machine read alike, so that one can tell another when something ends.
 * (`performance.now()` counts from the start of its own process.)
 */
export function sharedInstant(): Instant {
  return { monotonic: Number(process.hrtime.bigint()) / 1e6, boot: systemClock.boot() };
}

/** The moment `ms` after `from`. */
export function after(from: Instant, ms: number): Instant {
  return { monotonic: from.monotonic + ms, boot: from.boot + ms };
}

/** Milliseconds until `end`, by whichever clock has less to go: a suspended machine doesn't put an end off. Negative behind it. */
export function until(end: Instant, now: Instant = sharedInstant()): number {
  return -elapsed(end, now);
}
