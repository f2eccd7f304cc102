/** How many values lie in each of these ranges, which grow evenly in the logarithm. */
export interface Bucket {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** 1, 2, 5, 10, 20, 50, … milliseconds and their parts. */
function edges(least: number, most: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most * 10; power += 1) {
    found.push(...[1, 2, 5].map((digit) => Number((digit * 10 ** power).toPrecision(1))));
  }
  return found;
}

/** From the lowest bucket with a value to the highest. What is shorter than `leastMs` counts in the first one. */
export function histogram(values: readonly number[], leastMs = 0.1): Bucket[] {
  if (values.length === 0) return [];
  const bounds = edges(leastMs, Math.max(leastMs, maximum(values)));
  const buckets = bounds.map((toMs, index) => ({ fromMs: index === 0 ? 0 : (bounds[index - 1] ?? 0), toMs, count: 0 }));
  for (const value of values) {
    const bucket = buckets.find(({ toMs }) => value < toMs) ?? buckets.at(-1);
    if (bucket !== undefined) bucket.count += 1;
  }
  const first = buckets.findIndex(({ count }) => count > 0);
  const last = buckets.findLastIndex(({ count }) => count > 0);
  return buckets.slice(first, last + 1);
}

/** Of many: spread arguments have an end. */
const maximum = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0);

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a share of the longest one. What is there at all shows: rare and long is what matters here. */
export function bar(count: number, most: number, columns: number): string {
  if (count === 0 || most === 0) return '';
  // By the logarithm: one value in thousands is still seen.
  const share = Math.log(count + 1) / Math.log(most + 1);
  const eighths = Math.max(1, Math.round(share * columns * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
