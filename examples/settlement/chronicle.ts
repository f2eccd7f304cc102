import type { Report } from './messages.js';

/** One term as its worker reported it. Moments are by moment.ts. */
export interface TermStory {
  readonly term: number;
  readonly token: bigint;
  readonly worker: string;
  readonly electedAt: number;
  /** How the term before had ended, as the new leader saw it. */
  readonly cause: string;
  /** What was reported last of the lease's end. */
  leaseUntil: number;
  /** When it could act no more, as far as is known now: whatever came first. */
  endedAt: number;
  /** What ended it: the first that was heard. */
  end: string | null;
  /** From when on the worker itself would write nothing more: as it said, or because it was killed. */
  stoppedAt: number;
}

export interface Refusal {
  readonly worker: string;
  readonly term: number;
  readonly second: number;
  readonly token: bigint;
  readonly highest: bigint;
}

export interface Settled {
  readonly term: number;
  readonly first: number;
  readonly last: number;
}

type Listener = (worker: string, report: Report) => void;

/** What the workers have reported, put in order. */
export class Chronicle {
  /** In the order of their elections. */
  readonly terms: TermStory[] = [];
  readonly refusals: Refusal[] = [];
  readonly settled: Settled[] = [];
  /** Seconds whose batches workers have begun and frozen upon, with the moment. */
  readonly frozen: { readonly term: number; readonly second: number; readonly at: number }[] = [];
  readonly #listener: Listener;

  constructor(listener: Listener = () => {}) {
    this.#listener = listener;
  }

  add(worker: string, report: Report): void {
    switch (report.type) {
      case 'elected':
        this.#elected(worker, report);
        break;
      case 'settled':
        this.settled.push({ term: report.term, first: report.first, last: report.last });
        break;
      case 'freezing':
        this.frozen.push({ term: report.term, second: report.second, at: report.at });
        break;
      case 'refused': {
        const { term, second, token, highest } = report;
        this.refusals.push({ worker, term, second, token: BigInt(token), highest: BigInt(highest) });
        break;
      }
      case 'lease':
        this.#extended(report.term, report.until);
        break;
      case 'lost':
      case 'stopped':
        this.#over(report);
        break;
      default:
    }
    this.#listener(worker, report);
  }

  /** Something was done to the leader that ends its acting, whether it can say so or not. */
  incident(term: number, at: number, how: string): void {
    const story = this.term(term);
    if (story === undefined) return;
    end(story, at, how);
    // Frozen it may go on yet; killed it runs no more of its code, and its lifeline may say so at once.
    if (how === 'killed') story.stoppedAt = Math.min(story.stoppedAt, at);
  }

  term(number: number): TermStory | undefined {
    return this.terms.findLast((story) => story.term === number);
  }

  /** Who leads, as far as is known. */
  get leading(): TermStory | undefined {
    const latest = this.terms.at(-1);
    return latest?.end === null ? latest : undefined;
  }

  /** The first term after the one with this number. */
  successor(number: number): TermStory | undefined {
    return this.terms.find((story) => story.term > number);
  }

  /** How many batches were reported as settled. */
  get batches(): number {
    return this.settled.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  /** The last second that was reported as settled. */
  get lastSettled(): number {
    return this.settled.reduce((latest, { last }) => Math.max(latest, last), 0);
  }

  /** Whether this term has settled the batch of that second or a later one. */
  hasSettled(term: number, second: number): boolean {
    return this.settled.some((run) => run.term === term && run.last >= second);
  }

  #elected(worker: string, { term, token, cause, at }: Report & { type: 'elected' }): void {
    const never = Number.POSITIVE_INFINITY;
    this.terms.push({
      term,
      token: BigInt(token),
      worker,
      electedAt: at,
      cause,
      leaseUntil: at,
      endedAt: never,
      end: null,
      stoppedAt: never,
    });
    this.terms.sort((a, b) => a.electedAt - b.electedAt);
  }

  #extended(term: number, until: number): void {
    const story = this.term(term);
    if (story !== undefined) story.leaseUntil = Math.max(story.leaseUntil, until);
  }

  #over(report: Report & { type: 'lost' | 'stopped' }): void {
    const story = this.term(report.term);
    if (story === undefined) return;
    story.stoppedAt = Math.min(story.stoppedAt, report.at);
    // One that was frozen tells late: its lease had ended long before.
    end(story, Math.min(report.at, story.leaseUntil), report.type === 'lost' ? report.reason : null);
  }
}

/** A term can end for two reasons at once: the first that has a name is told, the earlier moment counts. */
function end(story: TermStory, at: number, how: string | null): void {
  story.endedAt = Math.min(story.endedAt, at);
  story.end ??= how;
}
