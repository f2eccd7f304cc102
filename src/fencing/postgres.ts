/**
 * Guards what is written to PostgreSQL: the check and the write are one transaction.
 *
 * @module tenure/fencing/postgres
 */
import { InvalidOptionError } from '../errors.js';
import { formatToken, parseToken } from '../token.js';
import { FenceBusyError } from './errors.js';
import {
  type Accepted,
  atLeastOne,
  checkResource,
  type FencedTerm,
  type FencingObserver,
  type Guard,
  sleep,
  Verdict,
} from './guard.js';
import { type Lent, type PgClient, type PgPool, type Source, source } from './postgres-connection.js';
import { codeOf, LOCK_NOT_AVAILABLE, notInstalled, RETRIED, translate } from './postgres-errors.js';
import { FENCE, install, literal, quoteSchema, WENT_BACK } from './postgres-schema.js';
import { Statements } from './postgres-statements.js';
import { commit, OpenTransaction, rollBack, type Transaction } from './postgres-transaction.js';

export type { PgClient, PgPool, PooledPgClient } from './postgres-connection.js';
export { fenceSchema, type SqlClient, type SqlResult } from './postgres-schema.js';
export type { Transaction } from './postgres-transaction.js';

/** An isolation level of PostgreSQL. */
export type Isolation = 'read committed' | 'repeatable read' | 'serializable';

/** Options of one {@link PostgresGuard.transaction}. */
export interface TransactionOptions {
  /** Default: the server's (`default_transaction_isolation`, mostly read committed). */
  isolation?: Isolation;
  /** How often the transaction is tried, at most, when the server ends it for a serialization failure or a deadlock. Default 8. */
  maxAttempts?: number;
}

/** Options of {@link postgresGuard}. Those of a transaction are the defaults of each. */
export interface PostgresGuardOptions extends TransactionOptions {
  /** The schema of the guard's table and functions. Default `tenure`. */
  schema?: string;
  /** Told of each check and what came of it. Default: nobody. `fencingMetrics()` of `tenure` counts them. */
  observer?: FencingObserver;
}

/** The client that a pool lends, as its own types say. */
export type ClientOf<P> = P extends {
  /** As the types of `pg` have it: with a promise, or with a callback. */
  connect: { (): Promise<infer C>; (callback: never): void };
}
  ? C
  : P extends {
        /** With a promise alone. */
        connect(): Promise<infer C>;
      }
    ? C
    : never;

/**
 * Guards resources in PostgreSQL 13 and later. The fence is a row; a transaction that has accepted a token holds it until
 * its end, so no newer token can be accepted between the check and the commit.
 *
 * A leader that freezes inside of its transaction doesn't block its successor: the server ends the transaction when
 * what remained of the lease at its beginning (or at the last `extend()`) has passed. Where it can't, in `COPY … FROM STDIN`, the
 * successor has it ended, for which both need the same role.
 */
export class PostgresGuard<C = PgClient> implements Guard<Transaction<C>> {
  readonly #source: Source;
  readonly #schema: string;
  readonly #schemaName: string;
  readonly #defaults: TransactionOptions;
  readonly #observer: FencingObserver | undefined;
  /** What we have seen accepted and committed last, for each resource: a hint for speed, never a verdict. */
  readonly #accepted = new Map<string, Statements>();

  constructor(connections: { pool: PgPool } | { client: PgClient }, options: PostgresGuardOptions = {}) {
    this.#source = source(connections);
    this.#schemaName = options.schema ?? 'tenure';
    this.#schema = quoteSchema(this.#schemaName);
    this.#defaults = checkOptions(options);
    this.#observer = options.observer;
  }

  /** The schema's name, for what else lives in it. */
  get schema(): string {
    return this.#schemaName;
  }

  /**
   * Creates the schema, the table and the functions where they are absent or older. Idempotent; safe to run in many
   * processes at once. {@link fenceSchema} gives the same as SQL text.
   */
  async migrate(): Promise<void> {
    await this.withClient((client) => install(client, FENCE, this.#schemaName));
  }

  /**
   * Runs `work` in a transaction that commits only while the term's token is the highest. `term.assert()` is called
   * before it begins and before it commits.
   *
   * `work` runs again, in a new transaction, after a serialization failure or a deadlock: it must have no effect outside of `tx`.
   *
   * @throws {StaleTokenError} a higher token has been accepted. Nothing was written.
   * @throws {FenceBusyError} an older term's transaction did not end within the lease. Nothing was written.
   * @throws {FenceTimeoutError} the transaction outlived the lease. Nothing was written.
   * @throws {CommitUnknownError} the connection broke during the commit.
   * @throws {TransactionAbortedError} a statement's error was swallowed, so the server rolled back.
   * @throws {TransactionEndedError} `work` sent a COMMIT or ROLLBACK of its own.
   * @throws {FencingNotInstalledError} `migrate()` has not been run.
   */
  async transaction<T>(
    term: FencedTerm,
    resource: string,
    work: (tx: Transaction<C>) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const { isolation, maxAttempts = 8 } =
      options === undefined ? this.#defaults : { ...this.#defaults, ...checkOptions(options) };
    checkResource(resource);
    formatToken(term.token);
    const verdict = new Verdict(this.#observer, term, resource);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(term, resource, work, isolation, verdict);
      } catch (error) {
        if (codeOf(error) === WENT_BACK && attempt <= maxAttempts) {
          this.#accepted.delete(resource);
          continue;
        }
        if (attempt >= maxAttempts || !RETRIED.has(codeOf(error))) {
          verdict.ended(error);
          throw error;
        }
        await sleep(Math.random() * Math.min(500, 5 * 2 ** attempt));
      }
    }
  }

  hold<T>(term: FencedTerm, resource: string, work: (tx: Transaction<C>) => T | Promise<T>): Promise<T> {
    return this.transaction(term, resource, work);
  }

  async check(term: FencedTerm, resource: string): Promise<void> {
    await this.transaction(term, resource, () => undefined);
  }

  async highest(resource: string): Promise<Accepted | null> {
    const text = `SELECT token::text AS token, holder FROM ${this.#schema}.fence WHERE resource = ${literal(checkResource(resource))}`;
    const { rows } = await this.withClient((client) => client.query(text));
    const row = rows[0];
    return row === undefined ? null : { token: parseToken(row.token), holder: row.holder ?? undefined };
  }

  /** Lends a connection outside of any transaction, for reads and migrations. */
  async withClient<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    const lent = await this.#source.lend();
    try {
      return await work(lent.client);
    } catch (error) {
      throw notInstalled(error, this.#schemaName);
    } finally {
      lent.release();
    }
  }

  async #attempt<T>(
    term: FencedTerm,
    resource: string,
    work: (tx: Transaction<C>) => T | Promise<T>,
    isolation: Isolation | undefined,
    verdict: Verdict,
  ): Promise<T> {
    term.assert();
    const lent = await this.#source.lend(term);
    lent.watch(term);
    const tx = new OpenTransaction(lent.client, term, resource, this.#schema);
    const statements = this.#statements(term, resource);
    let destroy: Error | undefined;
    try {
      term.assert();
      await this.#begin(lent, term, statements, isolation);
      verdict.accepted();
      const result = await this.#source.within(() => work(tx as unknown as Transaction<C>));
      // Before the COMMIT goes out: what `work` left running would otherwise send its next statement behind it, outside of the fence.
      tx.close();
      term.assert();
      await commit(lent, tx, statements);
      this.#remember(statements);
      return result;
    } catch (error) {
      tx.close();
      destroy = await rollBack(lent, error);
      throw translate(error, lent, resource);
    } finally {
      lent.release(destroy);
    }
  }

  #statements(term: FencedTerm, resource: string): Statements {
    const known = this.#accepted.get(resource);
    return known?.token === term.token && known.leaderId === term.leaderId
      ? known
      : new Statements(this.#schema, resource, term);
  }

  #remember(statements: Statements): void {
    const { resource } = statements;
    if (this.#accepted.get(resource) === statements) return;
    this.#accepted.delete(resource);
    this.#accepted.set(resource, statements);
    if (this.#accepted.size > 10_000) this.#accepted.delete(this.#accepted.keys().next().value as string);
  }

  /**
   * One round trip, the one of the BEGIN that every transaction sends: a simple query of two statements. Hence no parameters;
   * every value is a number or {@link literal}.
   */
  async #begin(lent: Lent, term: FencedTerm, statements: Statements, isolation: Isolation | undefined): Promise<void> {
    const level = isolation === undefined ? '' : ` ISOLATION LEVEL ${isolation.toUpperCase()}`;
    const { resource } = statements;
    // One look at the clock: the two numbers are compared with each other.
    const remaining = atLeastOne(term.remainingMs());
    const hold = Math.min(remaining, atLeastOne(term.holdLimitMs ?? remaining));
    const call =
      this.#accepted.get(resource) === statements
        ? statements.repeated(remaining, hold)
        : statements.first(remaining, hold);
    try {
      await lent.query(`BEGIN${level};${call}`);
    } catch (error) {
      if (codeOf(error) === LOCK_NOT_AVAILABLE) throw new FenceBusyError(resource, { cause: error });
      throw notInstalled(error, this.#schemaName);
    }
  }
}

/** A {@link PostgresGuard} on a `pg` Pool, or on one connected Client, whose transactions then take turns. */
export function postgresGuard<P extends PgPool>(
  connections: { pool: P },
  options?: PostgresGuardOptions,
): PostgresGuard<ClientOf<P>>;
export function postgresGuard<C extends PgClient>(
  connections: { client: C },
  options?: PostgresGuardOptions,
): PostgresGuard<C>;
export function postgresGuard(
  connections: { pool: PgPool } | { client: PgClient },
  options: PostgresGuardOptions = {},
): PostgresGuard<PgClient> {
  const given: Partial<{ pool: PgPool; client: PgClient }> | undefined = connections;
  if (typeof given?.pool?.connect !== 'function' && typeof given?.client?.query !== 'function') {
    throw new InvalidOptionError(
      'connections',
      'postgresGuard: pass { pool } with a pg Pool, or { client } with a connected pg Client',
    );
  }
  return new PostgresGuard(connections, options);
}

function checkOptions(options: TransactionOptions): TransactionOptions {
  const { isolation, maxAttempts } = options;
  if (isolation !== undefined && !['read committed', 'repeatable read', 'serializable'].includes(isolation)) {
    throw new InvalidOptionError(
      'isolation',
      `isolation ${JSON.stringify(isolation)}: read committed, repeatable read or serializable`,
    );
  }
  if (maxAttempts !== undefined && !(Number.isInteger(maxAttempts) && maxAttempts >= 1)) {
    throw new InvalidOptionError('maxAttempts', `maxAttempts ${maxAttempts}: a whole number from 1 up is needed`);
  }
  return { ...(isolation && { isolation }), ...(maxAttempts && { maxAttempts }) };
}
