/** What is beyond the longest that was seen, from those that were: a Pareto tail, which errs on the heavy side. */
export interface Tail {
  /** How many blocks were measured. */
  readonly blocks: number;
  /** All maxima, in falling order. */
  readonly maxima: readonly number[];
  /** The tail begins at the k-th longest. */
  readonly k: number;
  /** 1 / the exponent of the tail: Hill's estimate. */
  readonly weight: number;
}

/** Fewer say nothing about what is rarer than they are. */
export const LEAST_BLOCKS = 20;

/** However alike the values are, never a lighter tail than this. */
const LEAST_WEIGHT = 0.15;

/** Null of too few. */
export function fitTail(maxima: readonly number[]): Tail | null {
  if (maxima.length < LEAST_BLOCKS) return null;
  const falling = [...maxima].sort((a, b) => b - a);
  const k = Math.max(5, Math.round(falling.length / 10));
  const start = falling[k - 1] ?? 0;
  if (start <= 0) return null;
  const logs = falling.slice(0, k).map((value) => Math.log(value / start));
  const weight = logs.reduce((sum, log) => sum + log, 0) / (k - 1);
  return { blocks: falling.length, maxima: falling, k, weight: Math.max(LEAST_WEIGHT, weight) };
}

/** How likely the longest silence of a block is longer than `ms`. */
export function exceedance(tail: Tail, ms: number): number {
  const start = tail.maxima[tail.k - 1] ?? 0;
  const seen = tail.maxima.filter((value) => value > ms).length / tail.blocks;
  if (ms <= start) return seen;
  // Never less than what was seen.
  return Math.max(seen, (tail.k / tail.blocks) * (ms / start) ** (-1 / tail.weight));
}
