import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Tenure } from '../../src/index.js';
import { waitFor } from '../local/index.js';

/** A term that was seen to begin. */
export interface SeenTerm {
  readonly term: number;
  readonly leader: string;
  /** By `performance.now()`. */
  readonly at: number;
}

/** Who leads, as an observer of the elections sees it, without Prometheus: what drills need, and what pages are timed against. */
export class Standings implements AsyncDisposable {
  readonly #tenure: Tenure;
  readonly #stop = new AbortController();
  readonly #terms = new Map<string, SeenTerm[]>();
  readonly #leaders = new Map<string, string | null>();
  readonly #watching: Promise<void>[];

  private constructor(tenure: Tenure, elections: readonly string[]) {
    this.#tenure = tenure;
    this.#watching = elections.map((election) => this.#watch(election));
  }

  static async open(servers: string, elections: readonly string[]): Promise<Standings> {
    return new Standings(await connect({ servers, sessionTimeoutMs: 10_000 }), elections);
  }

  /** All terms that were seen, in their order. */
  terms(election: string): readonly SeenTerm[] {
    return this.#terms.get(election) ?? [];
  }

  /** Who leads now, as far as we know; null where nobody does. */
  leader(election: string): string | null {
    return this.#leaders.get(election) ?? null;
  }

  /** Waits until somebody leads in a term after `term`. */
  newLeader(election: string, term = 0, timeoutMs = 30_000): Promise<SeenTerm> {
    return waitFor(
      () => {
        const last = this.terms(election).at(-1);
        return last !== undefined && last.term > term && this.leader(election) !== null && last;
      },
      { what: `a leader of ${election} after term ${term}`, timeoutMs },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#watching);
    await this.#tenure.close();
  }

  async #watch(election: string): Promise<void> {
    const { signal } = this.#stop;
    const seen: SeenTerm[] = [];
    this.#terms.set(election, seen);
    while (!signal.aborted) {
      try {
        for await (const { leader, term } of this.#tenure.election(election).observe({ signal })) {
          this.#leaders.set(election, leader?.id ?? null);
          if (leader && term > (seen.at(-1)?.term ?? 0)) seen.push({ term, leader: leader.id, at: performance.now() });
        }
      } catch {
        // The ensemble is away, or we are asked to stop.
        await sleep(100);
      }
    }
  }
}
