import pg from 'pg';
import type { PostgresConfig } from '../../deploy/local/index.js';
import { postgresGuard } from '../../src/fencing/postgres.js';
import { type Tasks, tasks } from '../../src/fencing/tasks.js';

/** What the fence protects. */
const RESOURCE = 'settlement';
/** The schedule's name. */
export const JOB = 'settlement';
export const CLEARING = 'clearing';
export const MERCHANTS = ['bakery', 'bookshop', 'cinema', 'florist', 'garage'] as const;

/**
 * The books. Payments come in on the clearing account; a settlement pays one second's payments out to the merchants.
 *
 * Nothing here keeps a batch from being settled twice, on purpose: neither a unique key nor a look at what is settled already. That each
 * is settled once must come from the fence and the tasks that are kept beside it, or the demo would prove nothing.
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
`;

/** Connections to the books. A statement that waits for long fails, rather than standing in everybody's way. */
export function openBank(config: PostgresConfig, connections: number): pg.Pool {
  const pool = new pg.Pool({ ...config, max: connections, statement_timeout: 5_000 });
  // An idle connection that breaks is replaced at the next use: that is when its error counts.
  pool.on('error', () => {});
  return pool;
}

/** The fence, and the tasks under it: in the database of the books, so that they commit together. */
export function openTasks(pool: pg.Pool): Tasks<pg.PoolClient> {
  return tasks({ guard: postgresGuard({ pool }), resource: RESOURCE });
}

/** Makes the tables and opens the accounts. */
export async function openBooks(pool: pg.Pool): Promise<void> {
  await pool.query(BOOKS);
  await pool.query('INSERT INTO account (name) SELECT unnest($1::text[])', [[CLEARING, ...MERCHANTS]]);
  await openTasks(pool).migrate();
}

/** When the books were opened, to the second. */
export async function openedAt(pool: pg.Pool): Promise<Date> {
  const { rows } = await pool.query('SELECT to_timestamp(second) AS at FROM opening');
  return rows[0].at;
}
