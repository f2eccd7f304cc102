import type { Random } from './random.js';

/** One fault of a schedule. */
export interface Planned {
  /** From when the one before had begun, and there was room for another, in milliseconds. */
  readonly pauseMs: number;
  readonly fault: string;
  /** For what is left to chance in it: the victim, how long it lasts. */
  readonly random: Random;
}

/**
 * Faults without end: each kind once before any comes twice, in an order that the seed gives. Which of the workers is hit depends on who lives
 * and leads by then, so a seed repeats the schedule and not the run.
 */
export function* schedule(
  random: Random,
  faults: readonly string[],
  longestPauseMs: number,
): Generator<Planned, never> {
  if (faults.length === 0) throw new RangeError('a schedule needs faults');
  for (;;) {
    for (const fault of random.shuffle([...faults])) {
      yield { pauseMs: random.between(100, longestPauseMs), fault, random: random.fork() };
    }
  }
}
