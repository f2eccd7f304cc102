import type pg from 'pg';
import { CLEARING } from './bank.js';
import type { Fence, Holder } from './fence.js';

/** The payments that arrived in one second, to be settled at once. Its key is the second, counted from 1970. */
export interface Batch {
  readonly second: number;
  readonly payments: number;
  readonly amount: number;
  readonly shares: readonly { readonly merchant: string; readonly amount: number }[];
}

/** A term, as far as a settlement writes it down. */
export interface Settler extends Holder {
  readonly number: number;
}

/**
 * Takes the books over for a new term: from this transaction on no older term can write, so what it reads of the last settlement is final.
 *
 * @returns the last second that is settled
 */
export function takeOver(fence: Fence, settler: Settler): Promise<number> {
  return fence.transaction(settler, async (client) => {
    const { rows } = await client.query(
      'SELECT coalesce(max(settlement.second), (SELECT second - 1 FROM opening))::int AS second FROM settlement',
    );
    return rows[0].second;
  });
}

/** Computes the batches of all seconds after `settled` that are over, those without payments too. Writes nothing. */
export async function dueBatches(pool: pg.Pool, settled: number): Promise<Batch[]> {
  const client = await pool.connect();
  let failed = true;
  try {
    // Waits for payments that are being written: those that come after it arrive in a second that isn't over yet.
    await client.query('BEGIN; LOCK TABLE payment IN SHARE MODE');
    const now = await client.query('SELECT floor(extract(epoch FROM clock_timestamp()))::int AS second');
    const over: number = now.rows[0].second - 1;
    const { rows } = await client.query(
      `SELECT second::int, merchant, count(*)::int AS payments, sum(amount)::int AS amount
       FROM payment WHERE second > $1 AND second <= $2 GROUP BY second, merchant`,
      [settled, over],
    );
    await client.query('COMMIT');
    failed = false;
    return Array.from({ length: Math.max(0, over - settled) }, (_, index) => {
      const second = settled + 1 + index;
      const shares = rows.filter((row) => row.second === second);
      const sum = (key: 'payments' | 'amount'): number => shares.reduce((total, row) => total + row[key], 0);
      return { second, payments: sum('payments'), amount: sum('amount'), shares };
    });
  } finally {
    client.release(failed);
  }
}

/** Pays one batch out, under the fence. @throws {StaleTokenError} a newer term has taken the books over */
export function settle(fence: Fence, settler: Settler, batch: Batch): Promise<void> {
  return fence.transaction(settler, async (client) => {
    const { number, token, leaderId } = settler;
    await client.query(
      'INSERT INTO settlement (second, term, token, worker, payments, amount) VALUES ($1, $2, $3, $4, $5, $6)',
      [batch.second, number, token.toString(), leaderId, batch.payments, batch.amount],
    );
    await client.query(
      `UPDATE account SET balance = balance + share.amount
       FROM unnest($1::text[], $2::bigint[]) AS share (name, amount) WHERE account.name = share.name`,
      [
        [CLEARING, ...batch.shares.map((share) => share.merchant)],
        [-batch.amount, ...batch.shares.map((share) => share.amount)],
      ],
    );
  });
}
