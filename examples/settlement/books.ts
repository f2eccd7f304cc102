import type pg from 'pg';
import { CLEARING } from './bank.js';

/** A batch as it was settled. */
export interface SettledBatch {
  readonly second: number;
  readonly term: number;
  readonly token: bigint;
  readonly payments: number;
  readonly amount: number;
}

/** What the books say at one moment. Amounts in cents. */
export interface Books {
  /** The second in which they were opened. */
  readonly opened: number;
  /** In the order of their commits. */
  readonly settled: readonly SettledBatch[];
  /** What arrived in each second that had payments. */
  readonly paid: readonly { readonly second: number; readonly payments: number; readonly amount: number }[];
  /** What is still to be paid out. */
  readonly clearing: number;
  /** What each merchant has got, and what was paid to it. */
  readonly merchants: readonly { readonly name: string; readonly balance: number; readonly paid: number }[];
}

/** Reads the books as of one moment. */
export async function readBooks(pool: pg.Pool): Promise<Books> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const opening = await client.query('SELECT second::int FROM opening');
    // The fence is held from before the number is drawn until the commit: the terms' numbers are in the order of their commits.
    const settled = await client.query(
      'SELECT second::int, term, token::text, payments, amount::int FROM settlement ORDER BY id',
    );
    const paid = await client.query(
      'SELECT second::int, count(*)::int AS payments, sum(amount)::int AS amount FROM payment GROUP BY second ORDER BY second',
    );
    const accounts = await client.query(
      `SELECT name, balance::int, coalesce((SELECT sum(amount) FROM payment WHERE merchant = name), 0)::int AS paid
       FROM account ORDER BY name`,
    );
    await client.query('COMMIT');
    return {
      opened: opening.rows[0].second,
      settled: settled.rows.map((row) => ({ ...row, token: BigInt(row.token) })),
      paid: paid.rows,
      clearing: accounts.rows.find((row) => row.name === CLEARING)?.balance ?? 0,
      merchants: accounts.rows.filter((row) => row.name !== CLEARING),
    };
  } finally {
    client.release();
  }
}

export async function countSettled(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM settlement');
  return rows[0].count;
}
