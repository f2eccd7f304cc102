import { setMaxListeners } from 'node:events';
import { InvalidOptionError, LeadershipLostError, NotLeadingError, StaleTokenError } from '../errors.js';
import { anyOf } from '../signals.js';
import { checkResource, type FencedTerm, type FencingObserver, tell } from './guard.js';
import { type Missed, Periods } from './periods.js';
import type { PgClient, Transaction } from './postgres.js';
import { quoteSchema } from './postgres-schema.js';
import type { Tasks } from './run-once.js';
import { externalKey } from './task-json.js';
import type { TaskSteps } from './task-steps.js';

/** One period of a job. */
export interface Period {
  /** The name of its job. */
  readonly job: string;
  /** When it came due. */
  readonly at: Date;
  /** The key of its task; unique within the resource. */
  readonly key: string;
  /** For effects outside of the transaction: the resource and the key, percent-encoded. */
  readonly idempotencyKey: string;
  /** Whether it is caught up. */
  readonly missed: boolean;
  /** The term under which it runs. */
  readonly term: FencedTerm;
}

/** What every job says. */
export interface JobBase {
  /** Unique among the jobs of a resource; also the metric's label, so from a small set. Renaming it begins a new history. */
  readonly name: string;
  /** Five fields, or six with seconds in front, as croner reads them. */
  readonly cron: string;
  /** An IANA name; the expression is read in it. Default `UTC`, which has no clock changes. */
  readonly timeZone?: string;
  /** Default `latest`. */
  readonly missed?: Missed;
  /** A period that is found later than this, in milliseconds, counts as missed. Default 60,000. */
  readonly lateMs?: number;
  /** Where a job begins that is seen for the first time: periods after this moment are due. Default: when its first leader takes it up. */
  readonly since?: Date;
  /** How often one period is tried. Default 3. */
  readonly attempts?: number;
  /** Before the second attempt, in milliseconds; doubles from then on, up to a minute. Default 1,000. */
  readonly retryDelayMs?: number;
}

/** A job: `run` does each period in one transaction, exactly once; `steps` in saved steps, see {@link Tasks.runSteps}. */
export type Job<C = PgClient> = JobBase &
  (
    | {
        /** Does one period in one transaction. */
        readonly run: (tx: Transaction<C>, period: Period) => unknown;
        /** For a job without `run`. */
        readonly steps?: never;
      }
    | {
        /** Does one period in saved steps. */
        readonly steps: (task: TaskSteps<C>, period: Period) => unknown;
        /** For a job without `steps`. */
        readonly run?: never;
      }
  );

/** Options of {@link schedule}. */
export interface ScheduleOptions<C> {
  /** Where it is kept what has been done. */
  tasks: Tasks<C>;
  /** The jobs, each by a name of its own. */
  jobs: readonly Job<C>[];
  /** Told of each success and failure, and at the start of a term when each job last succeeded: 0 for never, which is old enough to page. */
  observer?: FencingObserver;
  /** Milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/**
 * Jobs that only the leader runs. Each period of a job is a task whose key is the job's name and the moment at which it came due, so it runs once,
 * whoever leads; how far a job has come is kept in the database, so the next leader sees what was missed.
 */
export interface Schedule {
  /**
   * Runs the jobs as they come due until the term's signal is aborted, or `options.signal` is; then waits for what is running.
   * Call it from `lead`.
   *
   * @throws {StaleTokenError} a higher token has been accepted: the term is over, whatever it believes
   */
  run(term: FencedTerm, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** @throws {InvalidOptionError} for a job that can't be read */
export function schedule<C>(options: ScheduleOptions<C>): Schedule {
  const names = new Set<string>();
  const runners = options.jobs.map((job) => {
    // What is kept is the task's key, so that must fit.
    checkResource(taskKey(job.name, new Date(0)));
    if (names.has(job.name)) throw new InvalidOptionError('name', `two jobs are called ${JSON.stringify(job.name)}`);
    names.add(job.name);
    return new JobRunner(options, job);
  });
  return {
    async run(term, { signal } = {}) {
      const failing = new AbortController();
      const abort = () => failing.abort();
      const stop = anyOf([term.signal, failing.signal, signal]);
      // Each job waits on it.
      setMaxListeners(0, stop);
      // One that is refused stops all: they share the term.
      const ends = await Promise.allSettled(
        runners.map((runner) =>
          runner.run(term, stop).catch((error: unknown) => {
            abort();
            throw error;
          }),
        ),
      );
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}

/** Until the next look after our lease was in doubt: mostly that lasts one round trip. */
const DOUBT_MS = 50;

const LATE_MS = 60_000;

const LONGEST_DELAY_MS = 60_000;

class JobRunner<C> {
  readonly #job: Job<C>;
  readonly #periods: Periods;
  readonly #tasks: Tasks<C>;
  readonly #table: string;
  readonly #observer: FencingObserver | undefined;
  readonly #now: () => number;

  constructor(options: ScheduleOptions<C>, job: Job<C>) {
    this.#job = job;
    this.#periods = new Periods(job.cron, job.timeZone ?? 'UTC');
    this.#tasks = options.tasks;
    this.#table = `${quoteSchema(options.tasks.guard.schema)}.schedule`;
    this.#observer = options.observer;
    this.#now = options.now ?? Date.now;
  }

  async run(term: FencedTerm, stop: AbortSignal): Promise<void> {
    let cursor: number | undefined;
    while (!stop.aborted) {
      try {
        cursor ??= await this.#resume(term);
        const due = this.#periods.due(cursor, this.#now(), this.#job.missed ?? 'latest', this.#job.lateMs ?? LATE_MS);
        for (const { atMs, missed } of due) {
          if (stop.aborted) return;
          await this.#period(term, stop, atMs, missed);
          cursor = atMs;
        }
      } catch (error) {
        if (isOver(error, term)) throw error;
        if (stop.aborted) return;
        // The store doesn't answer, or our lease is in doubt: look again soon.
        const doubt = error instanceof NotLeadingError;
        if (!doubt) this.#failed(error, false);
        await pause(doubt ? DOUBT_MS : 1_000, stop);
        continue;
      }
      const next = this.#periods.next(Math.max(cursor, this.#now()));
      // In pieces: a timer holds at most 24 days, and the wall clock may be set meanwhile.
      await pause(Math.min(60_000, (next ?? Number.POSITIVE_INFINITY) - this.#now()), stop);
    }
  }

  /** Tries one period; gives up on it loudly after the last attempt. Throws what says that there is no use in trying. */
  async #period(term: FencedTerm, stop: AbortSignal, atMs: number, missed: boolean): Promise<void> {
    const { name, attempts = 3, retryDelayMs = 1_000 } = this.#job;
    const at = new Date(atMs);
    const key = taskKey(name, at);
    const idempotencyKey = externalKey(this.#tasks.resource, key);
    const period: Period = { job: name, at, key, idempotencyKey, missed, term };
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#execute(term, period);
        tell(() => this.#observer?.lastSuccess?.(name, this.#now()));
        return;
      } catch (error) {
        if (isOver(error, term) || stop.aborted || error instanceof NotLeadingError) throw error;
        this.#failed(error, attempt >= attempts);
        if (attempt >= attempts) return;
        await pause(Math.min(LONGEST_DELAY_MS, retryDelayMs * 2 ** Math.min(attempt - 1, 30)), stop);
        if (stop.aborted) return;
      }
    }
  }

  async #execute(term: FencedTerm, period: Period): Promise<void> {
    const { run, steps } = this.#job;
    let moved = false;
    if (run !== undefined) {
      const { executed } = await this.#tasks.runOnce(term, period.key, async (tx) => {
        await run(tx, period);
        await this.#moveOn(tx, period);
      });
      moved = executed;
    } else {
      await this.#tasks.runSteps(term, period.key, async (task) => void (await steps(task, period)));
    }
    // In steps, or done by a term that ended before it could say so here.
    if (!moved) await this.#tasks.guard.transaction(term, this.#tasks.resource, (tx) => this.#moveOn(tx, period));
  }

  /** Where the job stands; a job that is seen for the first time begins now. */
  async #resume(term: FencedTerm): Promise<number> {
    const { resource, guard } = this.#tasks;
    const row = await guard.transaction(term, resource, async (tx) => {
      const query = tx.query as PgClient['query'];
      const id = [resource, this.#job.name];
      await query(`INSERT INTO ${this.#table} (resource, job, period) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, [
        ...id,
        this.#job.since ?? new Date(this.#now()),
      ]);
      const { rows } = await query(
        `SELECT extract(epoch FROM period) * 1000 AS period, extract(epoch FROM succeeded_at) * 1000 AS succeeded
         FROM ${this.#table} WHERE resource = $1 AND job = $2`,
        id,
      );
      return rows[0];
    });
    tell(() => this.#observer?.lastSuccess?.(this.#job.name, Math.floor(Number(row?.succeeded ?? 0))));
    const cursor = Math.floor(Number(row?.period));
    // A leader whose clock was ahead has done periods that are not due yet: until they are, this job stands still.
    const expected = Math.max(this.#now() + (this.#job.lateMs ?? LATE_MS), this.#job.since?.getTime() ?? 0);
    if (cursor > expected) {
      const until = new Date(cursor).toISOString();
      this.#failed(new Error(`the job has come to ${until}, which is in the future: a clock was or is wrong`), false);
    }
    return cursor;
  }

  async #moveOn(tx: Transaction<C>, period: Period): Promise<void> {
    await (tx.query as PgClient['query'])(
      `UPDATE ${this.#table} SET period = greatest(period, $3), succeeded_at = $4 WHERE resource = $1 AND job = $2`,
      [this.#tasks.resource, this.#job.name, period.at, new Date(this.#now())],
    );
  }

  #failed(error: unknown, final: boolean): void {
    tell(() => this.#observer?.failed?.(this.#job.name, error, final));
  }
}

function taskKey(job: string, at: Date): string {
  return `schedule/${job}/${at.toISOString()}`;
}

function isOver(error: unknown, term: FencedTerm): boolean {
  return error instanceof LeadershipLostError || (error instanceof StaleTokenError && error.token === term.token);
}

/** Waits, at most until `stop`. */
function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted || ms <= 0) return resolve();
    const end = () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop.addEventListener('abort', end);
  });
}
