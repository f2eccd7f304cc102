import type pg from 'pg';
import type { Term } from '../../src/index.js';
import type { Writer } from './batch.js';

/**
 * What the guard is there to replace: the lease is checked, and then written. The demo's own test runs it with this, to see that its
 * checks find what comes of it.
 */
export async function unfenced(pool: pg.Pool, term: Term, work: (tx: Writer) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  let failed = true;
  try {
    term.assert();
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
    failed = false;
  } finally {
    client.release(failed);
  }
}
