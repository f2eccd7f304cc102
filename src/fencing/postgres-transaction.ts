import { CommitUnknownError, FenceReleasedError, TransactionAbortedError, TransactionEndedError } from './errors.js';
import { type FencedTerm, holdMs } from './guard.js';
import type { Lent, PgClient } from './postgres-connection.js';
import { codeOf, IN_FAILED_TRANSACTION } from './postgres-errors.js';
import { Intact } from './postgres-intact.js';
import { NOT_HELD } from './postgres-schema.js';
import type { Statements } from './postgres-statements.js';

/**
 * The transaction, while it lasts. `query` is the client's own; when `work` has settled it throws
 * {@link FenceReleasedError}, so that a forgotten `await` can't write outside of the fence.
 */
export interface Transaction<C = PgClient> {
  /** The client's `query`, with its types. */
  readonly query: C extends {
    /** Whatever the client's types say. */
    query: infer Q;
  }
    ? Q
    : never;
  /** The guarded resource. */
  readonly resource: string;
  /** The term whose token was accepted. */
  readonly term: FencedTerm;
  /**
   * Asserts the term and lets the transaction go on for what remains of the lease *now*. Without it the server ends the
   * transaction when the lease of its beginning is over, renewed since or not.
   */
  extend(): Promise<void>;
}

/** The handle that `work` gets. */
export class OpenTransaction implements Transaction<PgClient> {
  readonly query: PgClient['query'];
  readonly resource: string;
  readonly term: FencedTerm;
  readonly schema: string;
  readonly #intact: Intact;
  #open = true;

  constructor(client: PgClient, term: FencedTerm, resource: string, schema: string) {
    this.#intact = new Intact(client);
    this.term = term;
    this.resource = resource;
    this.schema = schema;
    this.query = (...args: Parameters<PgClient['query']>) => {
      if (!this.#open) {
        throw new FenceReleasedError(`the transaction on ${JSON.stringify(resource)} has ended: is an await missing?`);
      }
      // `work` has committed or rolled back by itself: this statement would be a transaction of its own, outside of the fence.
      if (client.getTransactionStatus?.() === 'I') throw new TransactionEndedError(resource);
      return this.#intact.query(...args);
    };
  }

  /** Whether what went through this handle has certainly left the transaction as it was. */
  get intact(): boolean {
    return this.#intact.certain;
  }

  async extend(): Promise<void> {
    this.term.assert();
    await this.query(`SELECT ${this.schema}.limit_transaction(${holdMs(this.term)})`);
  }

  close(): void {
    this.#open = false;
  }
}

/**
 * Commits, if this is still the transaction that accepted the token. Where that isn't certain the server looks, in the same round trip, so
 * that nothing comes between; when it isn't that transaction, the server skips the COMMIT.
 */
export async function commit(lent: Lent, tx: OpenTransaction, statements: Statements): Promise<void> {
  const { resource } = tx;
  if (lent.broken !== undefined) throw lent.broken;
  const certain = lent.exclusive && tx.intact;
  let command: string | undefined;
  try {
    ({ command } = await lent.query(certain ? 'COMMIT' : statements.commit));
  } catch (error) {
    const code = codeOf(error);
    if (code === NOT_HELD) throw new TransactionEndedError(resource, { cause: error });
    if (code === IN_FAILED_TRANSACTION) throw aborted(resource);
    // An answer from the server says that it was refused; no answer, or a server going down, says nothing.
    if (/^(?!57P)[0-9A-Z]{5}$/.test(code) && !code.startsWith('08')) throw error;
    throw new CommitUnknownError(resource, { cause: error });
  }
  if (certain && command !== 'COMMIT') throw aborted(resource);
}

function aborted(resource: string): TransactionAbortedError {
  return new TransactionAbortedError(
    `a statement of the transaction on ${JSON.stringify(resource)} failed and its error was swallowed: the server rolled back`,
  );
}

/** @returns why the connection must not be used again, if it must not */
export async function rollBack(lent: Lent, cause: unknown): Promise<Error | undefined> {
  if (lent.broken !== undefined) return lent.broken;
  if (cause instanceof CommitUnknownError) return cause;
  try {
    await lent.query('ROLLBACK');
    return lent.broken;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
