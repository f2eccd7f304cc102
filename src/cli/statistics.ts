/** The value below which a share of them lies, by nearest rank; NaN of none. `share` is from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

export interface Summary {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Null of none. */
export function summary(values: readonly number[]): Summary | null {
  if (values.length === 0) return null;
  return { count: values.length, p50: quantile(values, 0.5), p99: quantile(values, 0.99), max: quantile(values, 1) };
}
