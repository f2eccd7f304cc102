import type { Term } from '../../src/index.js';
import { monotonicMs } from './monotonic.js';

/**
 * The time in which somebody believed that it may act, by what it would have done and not by what it was told: from the first
 * to the last moment at which it held a lease, suspect or not. Milliseconds of {@link monotonicMs}.
 */
export interface Acts {
  readonly who: string;
  readonly term: number;
  readonly token: bigint;
  readonly first: number;
  readonly last: number;
}

/** How often a leader tries whether it may act, in milliseconds. */
const EVERY_MS = 2;

/**
 * Asks the term again and again until it is over, and tells of each time that it held its lease or let `assert()` pass. That
 * is more than a worker may do, which writes nothing while it is suspect: the second half of a lease is for nobody to use, and
 * is nobody else's either.
 */
export function actAsLongAsAllowed(term: Term, acted: (at: number) => void): () => void {
  const attempt = (): void => {
    const at = monotonicMs();
    if (term.remainingMs() > 0 || passes(term)) acted(at);
    if (term.state === 'lost') stop();
  };
  const timer = setInterval(attempt, EVERY_MS);
  const stop = (): void => clearInterval(timer);
  attempt();
  return stop;
}

function passes(term: Term): boolean {
  try {
    term.assert();
    return true;
  } catch {
    return false;
  }
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
