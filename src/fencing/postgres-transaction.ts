import { CommitUnknownError, FenceReleasedError, TransactionAbortedError } from './errors.js';
import { type FencedTerm, holdMs } from './guard.js';
import type { Lent, PgClient } from './postgres-connection.js';
import { codeOf } from './postgres-errors.js';

/**
 * The transaction, while it lasts. `query` is the client's own; when `work` has settled it throws
 * {@link FenceReleasedError}, so that a forgotten `await` can't write outside of the fence.
 */
export interface Transaction<C = PgClient> {
  readonly query: C extends { query: infer Q } ? Q : never;
  readonly resource: string;
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
  readonly #schema: string;
  #open = true;

  constructor(client: PgClient, term: FencedTerm, resource: string, schema: string) {
    this.term = term;
    this.resource = resource;
    this.#schema = schema;
    this.query = (...args: Parameters<PgClient['query']>) => {
      if (!this.#open) {
        throw new FenceReleasedError(`the transaction on ${JSON.stringify(resource)} has ended: is an await missing?`);
      }
      return client.query(...args);
    };
  }

  async extend(): Promise<void> {
    this.term.assert();
    await this.query(`SELECT ${this.#schema}.limit_transaction(${holdMs(this.term)})`);
  }

  close(): void {
    this.#open = false;
  }
}

export async function commit(lent: Lent, resource: string): Promise<void> {
  if (lent.broken !== undefined) throw lent.broken;
  if (lent.client.getTransactionStatus?.() === 'I') {
    throw new TransactionAbortedError(
      `the work on ${JSON.stringify(resource)} ended its transaction by itself: leave BEGIN, COMMIT and ROLLBACK to the guard`,
    );
  }
  let command: string | undefined;
  try {
    ({ command } = await lent.client.query('COMMIT'));
  } catch (error) {
    // An answer from the server says that it was refused; no answer, or a server going down, says nothing.
    if (/^(?!57P)[0-9A-Z]{5}$/.test(codeOf(error)) && !codeOf(error).startsWith('08')) throw error;
    throw new CommitUnknownError(resource, { cause: error });
  }
  if (command === 'ROLLBACK') {
    throw new TransactionAbortedError(
      `a statement of the transaction on ${JSON.stringify(resource)} failed and its error was swallowed: the server rolled back`,
    );
  }
}

/** @returns why the connection must not be used again, if it must not */
export async function rollBack(lent: Lent, cause: unknown): Promise<Error | undefined> {
  if (lent.broken !== undefined) return lent.broken;
  if (cause instanceof CommitUnknownError) return cause;
  try {
    await lent.client.query('ROLLBACK');
    return lent.broken;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
