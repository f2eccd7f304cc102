import pg from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Postgres, type PostgresOptions, startPostgres } from '../../../deploy/local/index.js';
import { postgresGuard, type Transaction } from '../../../src/fencing/postgres.js';

/* A PostgreSQL of this file's own with the fences in it, and a ledger to write into; each test has a resource of its own, and finds it empty. */

export let server: Postgres;
export let pool: pg.Pool;
export let resource = '';
let made = 0;

/** To be called once by each file of tests. */
export function useLedger(options: PostgresOptions = {}): void {
  beforeAll(async () => {
    server = await startPostgres(options);
    pool = newPool();
    await postgresGuard({ pool }).migrate();
    await pool.query('CREATE TABLE ledger (id int, note text)');
  });
  afterAll(async () => {
    await pool?.end();
    await server?.close();
  });
  beforeEach(async () => {
    made += 1;
    resource = `resource-${made}`;
    await pool.query('TRUNCATE ledger');
  });
}

export function newPool(options: pg.PoolConfig = {}): pg.Pool {
  const opened = new pg.Pool({ ...server.config, max: 8, ...options });
  opened.on('error', () => undefined);
  return opened;
}

export async function notes(): Promise<string[]> {
  return (await pool.query('SELECT note FROM ledger ORDER BY id')).rows.map((row) => row.note);
}

export function insert(tx: Transaction<pg.PoolClient>, note: string): Promise<pg.QueryResult> {
  return tx.query('INSERT INTO ledger VALUES (1, $1)', [note]);
}
