/** What is said of many samples. With fewer than 100 the p99 is the largest. */
export interface Figures {
  readonly samples: number;
  readonly median: number;
  readonly p99: number;
  readonly least: number;
  readonly most: number;
}

export function figures(samples: readonly number[]): Figures {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  const middle = sorted.length / 2;
  const median =
    sorted.length % 2 === 1
      ? (sorted[Math.floor(middle)] ?? Number.NaN)
      : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
  return { samples: sorted.length, median, p99: at(0.99), least: sorted[0] ?? Number.NaN, most: at(1) };
}

/** Samples by the names of what was measured. */
export class Samples {
  readonly #all = new Map<string, number[]>();

  add(name: string, sample: number): void {
    const known = this.#all.get(name);
    if (known === undefined) this.#all.set(name, [sample]);
    else known.push(sample);
  }

  of(name: string): readonly number[] {
    return this.#all.get(name) ?? [];
  }

  get names(): readonly string[] {
    return [...this.#all.keys()];
  }

  toJSON(): Record<string, readonly number[]> {
    return Object.fromEntries(this.#all);
  }
}

/** In turns from the front, from the back, and each time from another place, so that nobody always goes first. */
export function inTurn<T>(all: readonly T[], round: number): readonly T[] {
  const start = Math.floor(round / 2) % all.length;
  const turned = [...all.slice(start), ...all.slice(0, start)];
  return round % 2 === 0 ? turned : turned.toReversed();
}
