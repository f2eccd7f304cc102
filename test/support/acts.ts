/**
 * The time in which somebody believed that it may act, by what it would have done and not by what it was told: from the first
 * to the last moment at which it held a lease, suspect or not. Milliseconds of `monotonicMs`.
 */
export interface Acts {
  readonly who: string;
  readonly term: number;
  readonly token: bigint;
  readonly first: number;
  readonly last: number;
}

/** Gathers single acts into one interval for each token. */
export class ActBook {
  readonly #acts = new Map<string, Acts>();

  note(who: string, term: number, token: bigint, at: number): void {
    const key = `${who} ${token}`;
    const known = this.#acts.get(key);
    this.#acts.set(key, { who, term, token, first: known?.first ?? at, last: at });
  }

  /** In the order of their tokens. */
  get all(): Acts[] {
    return [...this.#acts.values()].sort((a, b) => (a.token < b.token ? -1 : 1));
  }

  /** By how many milliseconds two leaders overlapped at worst; negative is the shortest time between two of them. */
  get worstOverlapMs(): number {
    const { all } = this;
    let worst = Number.NEGATIVE_INFINITY;
    for (const [index, later] of all.entries()) {
      for (const earlier of all.slice(0, index)) worst = Math.max(worst, earlier.last - later.first);
    }
    return worst;
  }
}
