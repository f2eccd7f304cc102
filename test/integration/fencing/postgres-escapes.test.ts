import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../deploy/local/index.js';
import { postgresGuard, type Transaction } from '../../../src/fencing/postgres.js';
import { fakeTerm } from '../../conformance/terms.js';

/** Ways in which work could write outside of its fence, or hold it for longer than it may. */

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let server: Postgres;
let pool: pg.Pool;
let made = 0;
let resource = '';
beforeAll(async () => {
  server = await startPostgres();
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

function newPool(options: pg.PoolConfig = {}): pg.Pool {
  const opened = new pg.Pool({ ...server.config, max: 8, ...options });
  opened.on('error', () => undefined);
  return opened;
}
const notes = async (): Promise<string[]> => (await pool.query('SELECT note FROM ledger')).rows.map((row) => row.note);
const insert = (tx: Transaction<pg.PoolClient>, note: string) => tx.query('INSERT INTO ledger VALUES (1, $1)', [note]);

describe('a statement that follows the end of the work', () => {
  for (const end of ['commit', 'rollback'] as const) {
    test(`is refused while the ${end} is under way`, async () => {
      let branch: Promise<unknown> = Promise.resolve();
      const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
        branch = tx.query('SELECT pg_sleep(0.1)').then(() => insert(tx, 'outside of the fence'));
        branch.catch(() => undefined);
        if (end === 'rollback') throw new Error('another branch failed');
      });
      await work.catch(() => undefined);
      await expect(branch).rejects.toMatchObject({ code: 'FENCE_RELEASED' });
      await sleep(50);
      expect(await notes()).toEqual([]);
    });
  }
});
