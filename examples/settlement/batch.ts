import type pg from 'pg';
import type { Transaction } from '../../src/fencing/postgres.js';
import { CLEARING } from './bank.js';

/** What a settlement needs of a transaction. */
export type Writer = Pick<Transaction<pg.PoolClient>, 'query'>;

/** A term, as far as a settlement writes it down. */
export interface Settler {
  readonly number: number;
  readonly token: bigint;
  readonly leaderId: string;
}

/** Pays one batch out: the payments that arrived in one second, counted from 1970. One without payments is a batch, too. */
export async function settle(tx: Writer, { number, token, leaderId }: Settler, second: number): Promise<void> {
  // Waits for payments that are being written: those that come after it arrive in a second that isn't over yet.
  await tx.query('LOCK TABLE payment IN SHARE MODE');
  const { rows: shares } = await tx.query(
    'SELECT merchant, count(*)::int AS payments, sum(amount)::int AS amount FROM payment WHERE second = $1 GROUP BY merchant',
    [second],
  );
  const sum = (key: 'payments' | 'amount'): number => shares.reduce((total, share) => total + share[key], 0);
  await tx.query(
    'INSERT INTO settlement (second, term, token, worker, payments, amount) VALUES ($1, $2, $3, $4, $5, $6)',
    [second, number, token.toString(), leaderId, sum('payments'), sum('amount')],
  );
  await tx.query(
    `UPDATE account SET balance = balance + share.amount
     FROM unnest($1::text[], $2::bigint[]) AS share (name, amount) WHERE account.name = share.name`,
    [
      [CLEARING, ...shares.map((share) => share.merchant)],
      [-sum('amount'), ...shares.map((share) => share.amount)],
    ],
  );
}
