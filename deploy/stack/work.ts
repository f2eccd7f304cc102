import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type FencingObserver, presenter } from '../../src/fencing/index.js';
import { PostgresGuard } from '../../src/fencing/postgres.js';
import { schedule, type Tasks, tasks } from '../../src/fencing/tasks.js';
import type { LeadershipLostError, Logger, Term } from '../../src/index.js';

/** Between two writes. */
const WRITE_MS = 200;
/** For each step of a settlement: long enough that most terms end in the middle of one. */
const STEP_MS = 400;

/** Ends before which a leader has finished what it began. */
const ORDERLY: ReadonlySet<string> = new Set(['resigned', 'paused', 'transferred', 'held', 'closed']);

type Client = pg.PoolClient;

/** The guard of both resources, and the tasks of one of them. */
export async function openLedger(pool: pg.Pool, observer: FencingObserver) {
  const guard = new PostgresGuard<Client>({ pool }, { observer });
  const ledger = tasks({ guard, resource: 'ledger', observer });
  await ledger.migrate();
  await pool
    .query('CREATE TABLE IF NOT EXISTS entry (resource text, at timestamptz DEFAULT now(), token bigint)')
    .catch(
      // Two workers at once: one of them has made it.
      () => {},
    );
  return { guard, ledger };
}

/** What a leader does: writes to its resource; where it has tasks, runs those too. */
export class Work {
  readonly #guard: PostgresGuard<Client>;
  readonly #resource: string;
  readonly #logger: Logger;
  readonly #tasks: Tasks<Client> | undefined;
  readonly #observer: FencingObserver | undefined;
  #handOver = new AbortController();

  constructor(
    guard: PostgresGuard<Client>,
    resource: string,
    logger: Logger,
    more: { readonly tasks?: Tasks<Client>; readonly observer?: FencingObserver } = {},
  ) {
    this.#guard = guard;
    this.#resource = resource;
    this.#logger = logger;
    this.#tasks = more.tasks;
    this.#observer = more.observer;
  }

  /** Ends the present term, if there is one, and joins the queue again. */
  handOver(): void {
    this.#handOver.abort();
  }

  /** Raises the fence, and takes up what the leader before has left unfinished. */
  async recover(term: Term): Promise<void> {
    this.#handOver = new AbortController();
    const stop = AbortSignal.any([term.signal, this.#handOver.signal]);
    term.signal.addEventListener('abort', () => void this.#lateWrite(term), { once: true });
    await this.#guard.check(term, this.#resource);
    const left = (await this.#tasks?.unfinished(term)) ?? [];
    await Promise.all(
      left.map(({ key }) => this.#settle(term, key, stop).catch((error: unknown) => this.#ended(error, stop))),
    );
  }

  async lead(term: Term): Promise<void> {
    const stop = AbortSignal.any([term.signal, this.#handOver.signal]);
    const all = [this.#write(term, stop)];
    if (this.#tasks !== undefined) all.push(this.#run(this.#tasks, term, stop), this.#settleAll(term, stop));
    await Promise.all(all);
  }

  async #write(term: Term, stop: AbortSignal): Promise<void> {
    await this.#again(stop, WRITE_MS, () =>
      this.#guard.transaction(term, this.#resource, (tx) =>
        tx.query('INSERT INTO entry (resource, token) VALUES ($1, $2)', [this.#resource, String(term.token)]),
      ),
    );
  }

  /** The scheduled job. */
  async #run(tasks: Tasks<Client>, term: Term, stop: AbortSignal): Promise<void> {
    const job = { name: 'payouts', cron: '*/5 * * * * *', run: () => undefined };
    const jobs = schedule({ tasks, jobs: [job], ...(this.#observer ? { observer: this.#observer } : {}) });
    const { token, leaderId } = term;
    const assert = () => term.assert();
    const remainingMs = () => term.remainingMs();
    await jobs
      .run({ token, leaderId, signal: stop, assert, remainingMs })
      .catch((error: unknown) => this.#ended(error, stop));
  }

  /** One settlement after the other, each asked for twice, as by an impatient client. */
  async #settleAll(term: Term, stop: AbortSignal): Promise<void> {
    await this.#again(stop, WRITE_MS, async () => {
      const key = `settlement/${new Date().toISOString()}`;
      await this.#settle(term, key, stop);
      await this.#settle(term, key, stop);
    });
  }

  /** Left where it is when the term ends: the next leader goes on from the last step that was saved. */
  async #settle(term: Term, key: string, stop: AbortSignal): Promise<void> {
    await this.#tasks?.runSteps(term, key, async (task) => {
      for (const name of ['collect', 'transfer', 'confirm']) {
        await task.step(name, () => sleep(STEP_MS, name, { signal: stop }));
      }
    });
  }

  /** A write that was on its way when the lease ended, and arrives now: what the guard is there for. */
  async #lateWrite(term: Term): Promise<void> {
    const { reason } = term.signal.reason as LeadershipLostError;
    if (ORDERLY.has(reason)) return;
    const late = presenter(term.token, { holder: term.leaderId, timeoutMs: 1_000 });
    await this.#guard.check(late, this.#resource).then(
      () => this.#logger.info({ term: term.number, reason }, 'a late write was accepted: nobody else has written yet'),
      (error: Error) => this.#logger.info({ term: term.number, reason, err: error }, 'a late write was refused'),
    );
  }

  /** Repeats `act` until `stop`; a term that is in doubt makes it fail for a while. */
  async #again(stop: AbortSignal, everyMs: number, act: () => Promise<unknown>): Promise<void> {
    while (!stop.aborted) {
      await act().catch((error: unknown) => this.#ended(error, stop));
      await sleep(everyMs, undefined, { signal: stop }).catch(() => {});
    }
  }

  #ended(error: unknown, stop: AbortSignal): void {
    if (!stop.aborted) this.#logger.warn({ resource: this.#resource, err: error as Error }, 'a write has failed');
  }
}
