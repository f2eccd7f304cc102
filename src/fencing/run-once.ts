import { InvalidOptionError } from '../errors.js';
import { checkResource, type FencedTerm, type FencingObserver, tell } from './guard.js';
import type { PgClient, PostgresGuard, Transaction, TransactionOptions } from './postgres.js';
import { install, quoteSchema } from './postgres-schema.js';
import { fromJson, toJson } from './task-json.js';
import { OpenTask, type StepStore, type TaskSteps } from './task-steps.js';
import { TASKS } from './tasks-schema.js';

/** Options of {@link tasks}. */
export interface TasksOptions<C> {
  /** Its schema holds the tables of the tasks too. */
  guard: PostgresGuard<C>;
  /** The guarded resource to which the tasks belong; mostly the election's name. Keys are unique within it. */
  resource: string;
  /** Told of each task that was asked for again and not done twice. Default: nobody. */
  observer?: FencingObserver;
}

/** What came of asking for a task. */
export interface TaskResult<T> {
  /** As JSON gives it back, now and every later time. */
  readonly value: T;
  /** False: it had been done before, and `value` is what it gave then. */
  readonly executed: boolean;
}

/** A task that has begun and isn't done. */
export interface UnfinishedTask {
  /** The task's key, unique within the resource. */
  readonly key: string;
  /** How often it has begun. */
  readonly attempts: number;
  /** Of the term that worked on it last. */
  readonly token: bigint;
  /** The id of the leader that worked on it last, where that was said. */
  readonly holder: string | undefined;
  /** When it first began, by the database's clock. */
  readonly begunAt: Date;
  /** What `save()` kept last, as JSON gives it back; undefined before the first. */
  readonly progress: unknown;
  /** The names of the steps that are done. */
  readonly steps: readonly string[];
}

/**
 * Tasks that run once, however often leaders change. A task is named by a key; the guard orders terms, and the key is what orders the
 * tries within one term and across all of them.
 */
export class Tasks<C = PgClient> {
  /** The guard in whose schema they are. */
  readonly guard: PostgresGuard<C>;
  /** The guarded resource to which they belong. */
  readonly resource: string;
  readonly #schema: string;
  readonly #observer: FencingObserver | undefined;
  readonly #running = new Map<string, Promise<TaskResult<unknown>>>();

  constructor(options: TasksOptions<C>) {
    this.guard = options.guard;
    this.resource = checkResource(options.resource);
    this.#schema = quoteSchema(options.guard.schema);
    this.#observer = options.observer;
  }

  /** Creates the guard's and the tasks' tables where they are absent or older. Idempotent. {@link tasksSchema} gives the tasks' as SQL. */
  async migrate(): Promise<void> {
    await this.guard.migrate();
    await this.guard.withClient((client) => install(client, TASKS, this.guard.schema));
  }

  /**
   * Runs `work` in one fenced transaction with the record that the key is done: what it writes in `tx` takes effect exactly once. For a
   * key that is done already it returns what was returned then.
   *
   * What `work` does outside of `tx` can happen again: after a failure, a retry of the transaction, or a lost answer to the commit.
   *
   * @throws {InvalidOptionError} the key is that of an unfinished task in steps
   * @throws as {@link PostgresGuard.transaction}; after a `CommitUnknownError` call it again with the same key
   */
  async runOnce<T>(
    term: FencedTerm,
    key: string,
    work: (tx: Transaction<C>) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<TaskResult<T>> {
    checkResource(key);
    const result = await this.#transaction(
      term,
      async (tx, query) => {
        const begun = await query(
          `INSERT INTO ${this.#schema}.task (resource, key, token, holder) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
          [this.resource, key, String(term.token), term.leaderId ?? null],
        );
        if (begun.rowCount === 0) {
          const done = await this.#result(query, key);
          if (done !== undefined) return { value: done.value as T, executed: false };
          // A row that is committed and not done is one in steps: to run `work` beside them would do the task twice.
          throw new InvalidOptionError(
            'key',
            `the task ${JSON.stringify(key)} has begun in steps: go on with runSteps`,
          );
        }
        const json = toJson(await work(tx));
        if (!(await this.#finish(query, term, key, json))) throw forgotten(key);
        return { value: fromJson(json) as T, executed: true };
      },
      options,
    );
    if (!result.executed) this.#duplicate('suppressed', key);
    return result;
  }

  /**
   * For work too long for one transaction: `work` goes in named steps, each saved under the guard when it is done. After a failover the
   * next leader calls it again (see {@link Tasks.unfinished}) and it goes on behind the last saved step. A second call for a key that is running
   * in this process joins the first.
   *
   * @throws as {@link PostgresGuard.transaction}, and what `work` throws: the task then stays unfinished
   */
  runSteps<T>(term: FencedTerm, key: string, work: (task: TaskSteps<C>) => T | Promise<T>): Promise<TaskResult<T>> {
    // A later term of this process must not join what an earlier one has left running.
    const run = `${term.token} ${key}`;
    const running = this.#running.get(run) as Promise<TaskResult<T>> | undefined;
    if (running !== undefined) {
      this.#duplicate('suppressed', key);
      return running.then((result) => ({ ...result, executed: false }));
    }
    const started = this.#runSteps(term, key, work).finally(() => this.#running.delete(run));
    this.#running.set(run, started);
    return started;
  }

  /**
   * The tasks that have begun and are not done, oldest first: what a new leader's recovery takes up with {@link Tasks.runSteps}. Accepts the
   * term's token first, so that no older term can finish or change one of them after we have looked.
   */
  async unfinished(term: FencedTerm): Promise<UnfinishedTask[]> {
    return await this.#transaction(term, async (_, query) => {
      const { rows } = await query(
        `SELECT t.key, t.attempts, t.token::text AS token, t.holder, t.begun_at, t.progress::text AS progress,
                array(SELECT s.step FROM ${this.#schema}.task_step s
                      WHERE s.resource = t.resource AND s.key = t.key ORDER BY s.done_at) AS steps
         FROM ${this.#schema}.task t WHERE t.resource = $1 AND t.done_at IS NULL ORDER BY t.begun_at, t.key`,
        [this.resource],
      );
      return rows.map((row) => ({
        key: row.key,
        attempts: Number(row.attempts),
        token: BigInt(row.token),
        holder: row.holder ?? undefined,
        begunAt: new Date(row.begun_at),
        progress: fromJson(row.progress),
        steps: row.steps,
      }));
    });
  }

  /**
   * Forgets tasks that were done longer ago than this, and their steps: asked for again, they would run again.
   *
   * @returns how many
   */
  async prune(term: FencedTerm, options: { olderThanMs: number }): Promise<number> {
    return await this.#transaction(term, async (_, query) => {
      const { rowCount } = await query(
        `DELETE FROM ${this.#schema}.task WHERE resource = $1 AND done_at < clock_timestamp() - make_interval(secs => $2)`,
        [this.resource, options.olderThanMs / 1000],
      );
      return rowCount ?? 0;
    });
  }

  async #runSteps<T>(
    term: FencedTerm,
    key: string,
    work: (task: TaskSteps<C>) => T | Promise<T>,
  ): Promise<TaskResult<T>> {
    checkResource(key);
    const claimed = await this.#claim(term, key);
    if ('value' in claimed) {
      this.#duplicate('suppressed', key);
      return { value: claimed.value as T, executed: false };
    }
    if (claimed.attempt > 1) this.#duplicate('executed', key);
    const task = new OpenTask<C>(this.#store(term), term, key, claimed.attempt, claimed.progress, claimed.steps);
    let json: string | null;
    try {
      json = toJson(await work(task));
    } finally {
      task.close();
    }
    const result = await this.#transaction(term, async (_, query) => {
      if (await this.#finish(query, term, key, json)) return { value: fromJson(json) as T, executed: true };
      // Another attempt of this term, in another process, was done first: what it gave stays.
      const done = await this.#result(query, key);
      if (done === undefined) throw forgotten(key);
      return { value: done.value as T, executed: false };
    });
    if (!result.executed) this.#duplicate('suppressed', key);
    return result;
  }

  #claim(
    term: FencedTerm,
    key: string,
  ): Promise<{ value: unknown } | { attempt: number; progress: unknown; steps: Map<string, unknown> }> {
    return this.#transaction(term, async (_, query) => {
      const { rows } = await query(
        `INSERT INTO ${this.#schema}.task AS t (resource, key, token, holder) VALUES ($1, $2, $3, $4)
         ON CONFLICT (resource, key) DO UPDATE SET attempts = t.attempts + 1, token = excluded.token, holder = excluded.holder
           WHERE t.done_at IS NULL
         RETURNING t.attempts, t.progress::text AS progress`,
        [this.resource, key, String(term.token), term.leaderId ?? null],
      );
      if (rows[0] === undefined) return { value: (await this.#result(query, key))?.value };
      const steps = await query(
        `SELECT step, result::text AS result FROM ${this.#schema}.task_step WHERE resource = $1 AND key = $2 ORDER BY done_at`,
        [this.resource, key],
      );
      return {
        attempt: Number(rows[0].attempts),
        progress: fromJson(rows[0].progress),
        steps: new Map(steps.rows.map((row) => [row.step, fromJson(row.result)])),
      };
    });
  }

  #store(term: FencedTerm): StepStore<C> {
    return {
      resource: this.resource,
      saveStep: (key, step, work) =>
        this.#transaction(term, async (tx, query) => {
          // Before the work: of two attempts at once the second waits here, and finds the step saved.
          const begun = await query(
            `INSERT INTO ${this.#schema}.task_step (resource, key, step, token) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
            [this.resource, key, step, String(term.token)],
          );
          const id = [this.resource, key, step];
          if (begun.rowCount === 0) {
            const { rows } = await query(
              `SELECT result::text AS result FROM ${this.#schema}.task_step WHERE resource = $1 AND key = $2 AND step = $3`,
              id,
            );
            return fromJson(rows[0]?.result ?? null);
          }
          const json = toJson(await work(tx));
          if (json !== null) {
            await query(
              `UPDATE ${this.#schema}.task_step SET result = $4 WHERE resource = $1 AND key = $2 AND step = $3`,
              [...id, json],
            );
          }
          return fromJson(json);
        }),
      saveProgress: (key, progress) =>
        this.#transaction(term, async (_, query) => {
          await query(
            `UPDATE ${this.#schema}.task SET progress = $3, token = $4 WHERE resource = $1 AND key = $2 AND done_at IS NULL`,
            [this.resource, key, progress, String(term.token)],
          );
        }),
    };
  }

  /** @returns false where there is no such unfinished task: a result that is kept is never replaced */
  async #finish(query: PgClient['query'], term: FencedTerm, key: string, json: string | null): Promise<boolean> {
    const { rowCount } = await query(
      `UPDATE ${this.#schema}.task SET done_at = clock_timestamp(), result = $3, token = $4, holder = $5
       WHERE resource = $1 AND key = $2 AND done_at IS NULL`,
      [this.resource, key, json, String(term.token), term.leaderId ?? null],
    );
    return rowCount !== 0;
  }

  async #result(query: PgClient['query'], key: string): Promise<{ value: unknown } | undefined> {
    const { rows } = await query(
      `SELECT done_at IS NOT NULL AS done, result::text AS result FROM ${this.#schema}.task WHERE resource = $1 AND key = $2 FOR UPDATE`,
      [this.resource, key],
    );
    return rows[0]?.done === true ? { value: fromJson(rows[0].result) } : undefined;
  }

  #transaction<T>(
    term: FencedTerm,
    work: (tx: Transaction<C>, query: PgClient['query']) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    return this.guard.transaction(term, this.resource, (tx) => work(tx, tx.query as PgClient['query']), options);
  }

  #duplicate(outcome: 'executed' | 'suppressed', key: string): void {
    tell(() => this.#observer?.duplicate?.(outcome, key));
  }
}

function forgotten(key: string): Error {
  return new Error(`the record of the task ${JSON.stringify(key)} was deleted while it ran`);
}

/** {@link Tasks} of one resource, kept beside a PostgresGuard's fences. */
export function tasks<C>(options: TasksOptions<C>): Tasks<C> {
  return new Tasks(options);
}
