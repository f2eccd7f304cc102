import type pg from 'pg';
import { StaleTokenError } from '../../src/index.js';

/** What the fence has to know of a term. */
export interface Holder {
  readonly token: bigint;
  readonly leaderId: string;
}

/**
 * The guard of the books: a row that holds the highest token that was ever accepted. Each write is a transaction that locks this row,
 * compares, and only then writes. The lock lasts until the commit, so no newer token can come in between.
 */
export class Fence {
  readonly #pool: pg.Pool;
  readonly #resource: string;
  readonly #disabled: boolean;

  /** `disabled` accepts any token, so that a test can show what the fence is good for. */
  constructor(pool: pg.Pool, resource: string, disabled = false) {
    this.#pool = pool;
    this.#resource = resource;
    this.#disabled = disabled;
  }

  /**
   * Runs `work` in a transaction that is committed only if no higher token has been accepted.
   *
   * @throws {StaleTokenError} a higher token has been accepted; nothing was written
   */
  async transaction<T>(holder: Holder, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failed = true;
    try {
      await client.query('BEGIN');
      await this.#pass(client, holder);
      const result = await work(client);
      await client.query('COMMIT');
      failed = false;
      return result;
    } finally {
      // Closing the connection rolls back, whatever state it is in.
      client.release(failed);
    }
  }

  async #pass(client: pg.ClientBase, { token, leaderId }: Holder): Promise<void> {
    const { rows } = await client.query('SELECT token::text, holder FROM fence WHERE resource = $1 FOR UPDATE', [
      this.#resource,
    ]);
    const highest = BigInt(rows[0].token);
    if (token === highest) return;
    if (token < highest && !this.#disabled) throw new StaleTokenError(this.#resource, token, highest, rows[0].holder);
    await client.query('UPDATE fence SET token = $2, holder = $3 WHERE resource = $1', [
      this.#resource,
      token.toString(),
      leaderId,
    ]);
  }
}
