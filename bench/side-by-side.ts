/** Two ways of doing the same, measured in turns, so that a busy machine weighs on both alike. */
export interface Pair {
  readonly name: string;
  readonly plain: (i: number) => Promise<unknown>;
  readonly guarded: (i: number) => Promise<unknown>;
}

export interface Comparison {
  readonly name: string;
  /** What the numbers are: milliseconds for one, or how many in a second. */
  readonly unit: 'ms' | '/s';
  readonly plain: number;
  readonly guarded: number;
  /** The median of the rounds' own ratios, guarded to plain. */
  readonly ratio: number;
}

/** Medians of single operations, one after another. Each round measures both ways in blocks that alternate. */
export async function latency(pair: Pair, { rounds = 9, block = 60, warmUp = 200 } = {}): Promise<Comparison> {
  for (let i = 0; i < warmUp; i += 1) {
    await pair.plain(i);
    await pair.guarded(i);
  }
  const results: { plain: number; guarded: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const samples = { plain: [] as number[], guarded: [] as number[] };
    for (const way of ordered(round)) {
      for (let i = 0; i < block; i += 1) samples[way].push(await timed(() => pair[way](i)));
    }
    results.push({ plain: median(samples.plain), guarded: median(samples.guarded) });
  }
  return summary(pair.name, 'ms', results);
}

/** How many operations `writers` do in a second, each one after another. */
export async function throughput(
  pair: Pair,
  {
    writers,
    rounds = 15,
    windowMs = 300,
    warmUpMs = 700,
  }: { writers: number; rounds?: number; windowMs?: number; warmUpMs?: number },
): Promise<Comparison> {
  const run = async (way: 'plain' | 'guarded', ms: number): Promise<number> => {
    const start = performance.now();
    let count = 0;
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        while (performance.now() - start < ms) {
          await pair[way](writer);
          count += 1;
        }
      }),
    );
    return (count * 1_000) / (performance.now() - start);
  };
  await run('plain', warmUpMs);
  await run('guarded', warmUpMs);
  const results: { plain: number; guarded: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const result = { plain: 0, guarded: 0 };
    for (const way of ordered(round)) result[way] = await run(way, windowMs);
    results.push(result);
  }
  return summary(pair.name, '/s', results);
}

/** Who goes first changes, so that neither always has the warmer caches. */
function ordered(round: number): ('plain' | 'guarded')[] {
  return round % 2 === 0 ? ['plain', 'guarded'] : ['guarded', 'plain'];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function summary(name: string, unit: 'ms' | '/s', results: { plain: number; guarded: number }[]): Comparison {
  return {
    name,
    unit,
    plain: median(results.map((each) => each.plain)),
    guarded: median(results.map((each) => each.guarded)),
    ratio: median(results.map((each) => each.guarded / each.plain)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
