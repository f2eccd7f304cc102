import pg from 'pg';
import type { PostgresConfig } from '../../deploy/local/index.js';

export const RESOURCE = 'settlement';
export const CLEARING = 'clearing';
export const MERCHANTS = ['bakery', 'bookshop', 'cinema', 'florist', 'garage'] as const;

/**
 * The books. Payments come in on the clearing account; a settlement pays one second's payments out to the merchants.
 *
 * Nothing here keeps a batch from being settled twice, on purpose: neither a unique key nor a look at what is settled already. That each
 * is settled once must come from the election and the fence alone, or the demo would prove nothing.
 */
const BOOKS = `
  CREATE TABLE account (name text PRIMARY KEY, balance bigint NOT NULL DEFAULT 0);
  CREATE TABLE payment (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant text NOT NULL REFERENCES account,
    amount   int NOT NULL CHECK (amount > 0),
    second   bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()))
  );
  CREATE INDEX ON payment (second);
  CREATE TABLE settlement (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    second   bigint NOT NULL,
    term     int NOT NULL,
    token    bigint NOT NULL,
    worker   text NOT NULL,
    payments int NOT NULL,
    amount   bigint NOT NULL
  );
  CREATE TABLE opening AS SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS second;
  CREATE TABLE fence (resource text PRIMARY KEY, token bigint NOT NULL, holder text);
`;

/** Connections to the books. A statement that waits for long fails, rather than standing in everybody's way. */
export function openBank(config: PostgresConfig, connections: number): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    max: connections,
    statement_timeout: 5_000,
    // A worker that freezes inside of its transaction must not keep its successor from the fence.
    idle_in_transaction_session_timeout: 2_000,
  });
  // An idle connection that breaks is replaced at the next use: that is when its error counts.
  pool.on('error', () => {});
  return pool;
}

/** Makes the tables and opens the accounts. */
export async function openBooks(pool: pg.Pool): Promise<void> {
  await pool.query(BOOKS);
  await pool.query('INSERT INTO account (name) SELECT unnest($1::text[])', [[CLEARING, ...MERCHANTS]]);
  await pool.query('INSERT INTO fence VALUES ($1, 0, NULL)', [RESOURCE]);
}
