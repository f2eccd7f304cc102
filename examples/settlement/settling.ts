import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import type pg from 'pg';
import { NotLeadingError, StaleTokenError, type Term } from '../../src/index.js';
import { dueBatches, settle, takeOver } from './batch.js';
import type { Fence } from './fence.js';
import type { News } from './messages.js';

/** At the start of each second. */
const SCHEDULE = new Cron('* * * * * *', { paused: true });

/**
 * A leader's work: each second it settles what has arrived in the second before, and after a time without a leader all seconds that were
 * missed. It trusts its own memory of what is settled, as leaders do; the fence sees to it that this is safe.
 */
export class Settling {
  readonly #pool: pg.Pool;
  readonly #fence: Fence;
  readonly #report: (news: News) => Promise<void>;
  /** The last second that is settled. */
  #settled = 0;
  #freezeBeforeWrite = false;
  #handOver = new AbortController();

  constructor(pool: pg.Pool, fence: Fence, report: (news: News) => Promise<void>) {
    this.#pool = pool;
    this.#fence = fence;
    this.#report = report;
  }

  freezeBeforeWrite(): void {
    this.#freezeBeforeWrite = true;
  }

  handOver(): void {
    this.#handOver.abort();
  }

  /** Before anything else in a term: the last committed state, with the token already in the fence. */
  async recover(term: Term): Promise<void> {
    this.#freezeBeforeWrite = false;
    this.#handOver = new AbortController();
    this.#settled = await takeOver(this.#fence, term);
  }

  /** Settles until the term is lost or given up. Returning by itself gives it up. */
  async lead(term: Term): Promise<void> {
    const stop = AbortSignal.any([term.signal, this.#handOver.signal]);
    try {
      while (!stop.aborted) {
        await sleep(SCHEDULE.msToNext() ?? 1_000, undefined, { signal: stop }).catch(() => {});
        if (!stop.aborted) await this.#settleDue(term, stop);
      }
    } finally {
      void this.#report({ type: 'stopped', term: term.number });
    }
  }

  async #settleDue(term: Term, stop: AbortSignal): Promise<void> {
    if (term.state !== 'leading') return;
    const before = this.#settled;
    try {
      for (const batch of await dueBatches(this.#pool, before)) {
        if (stop.aborted) break;
        await this.#write(term, batch);
        this.#settled = batch.second;
      }
    } catch (error) {
      // Suspect: not now. What is due stays due, until the doubt is over or somebody else leads.
      if (!(error instanceof NotLeadingError)) throw error;
    } finally {
      if (this.#settled > before) {
        void this.#report({ type: 'settled', term: term.number, first: before + 1, last: this.#settled });
      }
    }
  }

  async #write(term: Term, batch: Parameters<typeof settle>[2]): Promise<void> {
    const { second } = batch;
    const freeze = this.#freezeBeforeWrite;
    this.#freezeBeforeWrite = false;
    if (freeze) await this.#report({ type: 'freezing', term: term.number, second });
    term.assert();
    // The worst moment for a pause, which no check can cover: the lease held a microsecond ago. A collection of garbage, a
    // suspended machine, a full disk do this to anybody; here a real SIGSTOP does, and nothing runs until somebody sends SIGCONT.
    if (freeze) process.kill(process.pid, 'SIGSTOP');
    try {
      await settle(this.#fence, term, batch);
    } catch (error) {
      if (error instanceof StaleTokenError) {
        const { token, highest } = error;
        void this.#report({ type: 'refused', term: term.number, second, token: `${token}`, highest: `${highest}` });
      }
      throw error;
    }
  }
}
