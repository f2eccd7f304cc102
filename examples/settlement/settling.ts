import type pg from 'pg';
import type { FencingObserver } from '../../src/fencing/index.js';
import { schedule, type TaskSteps, type Tasks } from '../../src/fencing/tasks.js';
import { StaleTokenError, type Term } from '../../src/index.js';
import { JOB, openedAt } from './bank.js';
import { settle, type Writer } from './batch.js';
import { freezeBeforeNextTransaction } from './freeze.js';
import type { News } from './messages.js';
import { unfenced } from './unfenced.js';

export interface SettlingOptions {
  readonly pool: pg.Pool;
  readonly tasks: Tasks<pg.PoolClient>;
  readonly observer: FencingObserver;
  readonly report: (news: News) => Promise<void>;
  /** False: see {@link unfenced}. */
  readonly fenced: boolean;
}

/**
 * A leader's work: each second it settles what has arrived in the second before, and after a time without a leader all seconds that were
 * missed. Each batch is a task of its own: begun under the guard, so that a successor sees it, and then paid out under the guard.
 */
export class Settling {
  readonly #options: SettlingOptions;
  readonly #tasks: Tasks<pg.PoolClient>;
  /** Batches that are settled and not reported yet. */
  #unreported: { readonly first: number; readonly last: number } | undefined;
  #freezeBeforeWrite = false;
  #handOver = new AbortController();

  constructor(options: SettlingOptions) {
    this.#options = options;
    this.#tasks = options.tasks;
  }

  freezeBeforeWrite(): void {
    this.#freezeBeforeWrite = true;
  }

  handOver(): void {
    this.#handOver.abort();
  }

  /**
   * Before anything else in a term: finishes what an older one has begun. To look for it puts our token into the fence, so no
   * older term can write any more.
   */
  async recover(term: Term): Promise<void> {
    this.#unreported = undefined;
    this.#freezeBeforeWrite = false;
    this.#handOver = new AbortController();
    for (const { key, holder } of await this.#tasks.unfinished(term)) {
      const second = secondOf(key);
      void this.#options.report({ type: 'found', term: term.number, second, holder: holder ?? 'somebody' });
      await this.#tasks.runSteps(term, key, (task) => this.#settle(term, task, second));
    }
  }

  /** Settles until the term is lost or given up. Returning by itself gives it up. */
  async lead(term: Term): Promise<void> {
    // Otherwise it would begin when its first leader does; this one begins with the books.
    const since = await openedAt(this.#options.pool);
    const settlement = schedule({
      tasks: this.#tasks,
      observer: this.#options.observer,
      jobs: [
        {
          name: JOB,
          cron: '* * * * * *',
          missed: 'all',
          since,
          steps: (task) => this.#settle(term, task, secondOf(task.key)),
        },
      ],
    });
    try {
      await settlement.run(term, { signal: this.#handOver.signal });
    } finally {
      this.#reportSettled(term);
      void this.#options.report({ type: 'stopped', term: term.number });
    }
  }

  async #settle(term: Term, task: TaskSteps<pg.PoolClient>, second: number): Promise<void> {
    const { pool, fenced, report } = this.#options;
    if (this.#freezeBeforeWrite) {
      this.#freezeBeforeWrite = false;
      await report({ type: 'freezing', term: term.number, second });
      freezeBeforeNextTransaction(pool);
    }
    const payOut = (tx: Writer) => settle(tx, term, second);
    try {
      // What leaves the house, such as a file for the bank, would be the next step, with the idempotency key that it gets.
      await (fenced ? task.transact('pay out', payOut) : unfenced(pool, term, payOut));
    } catch (error) {
      if (error instanceof StaleTokenError) {
        const { token, highest } = error;
        void report({ type: 'refused', term: term.number, second, token: `${token}`, highest: `${highest}` });
      }
      throw error;
    }
    this.#unreported = { first: this.#unreported?.first ?? second, last: second };
    // While it catches up, all at once in the end.
    const isNextDue = Date.now() >= (second + 2) * 1_000;
    if (!isNextDue) this.#reportSettled(term);
  }

  #reportSettled(term: Term): void {
    if (this.#unreported !== undefined) {
      void this.#options.report({ type: 'settled', term: term.number, ...this.#unreported });
    }
    this.#unreported = undefined;
  }
}

/** The second whose payments a task settles: the one before the task comes due, which its key ends with. */
function secondOf(key: string): number {
  return Date.parse(key.slice(key.lastIndexOf('/') + 1)) / 1_000 - 1;
}
