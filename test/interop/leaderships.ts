import type { Recipe } from './programs.js';

/** From when to when a candidate took itself for the leader, in milliseconds of CLOCK_MONOTONIC. */
export interface Leadership {
  readonly who: string;
  readonly recipe: Recipe;
  /** The czxid of its znode; -1 where it could not be asked for in time. */
  readonly token: bigint;
  readonly from: number;
  /** Null while it goes on. Of a killed one: when it had certainly ceased to run, right before. */
  to: number | null;
  why: string;
}

/** All leaderships of one queue. */
export class LeadershipBook {
  readonly #all: Leadership[] = [];

  begin(leadership: Pick<Leadership, 'who' | 'recipe' | 'token' | 'from'>): Leadership {
    const begun = { ...leadership, to: null, why: '' };
    this.#all.push(begun);
    return begun;
  }

  /** In the order in which they began. */
  get all(): readonly Leadership[] {
    return [...this.#all].sort((a, b) => a.from - b.from);
  }

  get last(): Leadership | undefined {
    return this.all.at(-1);
  }

  /** Pairs of which the later began while the earlier went on. */
  get overlaps(): string[] {
    const { all } = this;
    return all.flatMap((later, index) =>
      all
        .slice(0, index)
        .filter((earlier) => (earlier.to ?? Number.POSITIVE_INFINITY) >= later.from)
        .map((earlier) => `${told(earlier)} overlaps ${told(later)}`),
    );
  }

  /** Leaderships of somebody who had arrived before the leader before: a token is the order of arrival. */
  get disorders(): string[] {
    const { all } = this;
    return all.flatMap((later, index) => {
      const earlier = all[index - 1];
      return earlier !== undefined && earlier.token >= later.token
        ? [`${told(earlier)} came before ${told(later)}`]
        : [];
    });
  }
}

function told({ who, token, from, to, why }: Leadership): string {
  return `${who} (token ${token}, ${from.toFixed(1)} to ${to?.toFixed(1) ?? 'now'}, ${why})`;
}
