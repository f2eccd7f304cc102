import assert from 'node:assert/strict';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { tasks } from '../../../src/fencing/tasks.js';
import { election } from './election.js';
import { database, until } from './place.js';

export { election };

const pool = database();
const guard = postgresGuard({ pool });
export const work = tasks({ guard, resource: 'settlement' });
await work.migrate();
await pool.query('CREATE TABLE invoice (period timestamptz NOT NULL)');

// Nobody has led for three days: the job catches up the periods of those days, all of them.
const DAYS = 3;
await pool.query(
  `INSERT INTO tenure.schedule VALUES ('settlement', 'invoices', now() - interval '${DAYS} days', now() - interval '${DAYS} days')`,
);

const count = async () => (await pool.query('SELECT count(*)::int FROM invoice')).rows[0].count as number;

/** It leads for ever. */
export const enough = until(async () => (await count()) >= DAYS);

export async function afterwards(): Promise<void> {
  const { rows } = await pool.query(
    "SELECT DISTINCT to_char(period AT TIME ZONE 'Europe/Berlin', 'HH24:MI') AS due FROM invoice",
  );
  assert.deepEqual(rows, [{ due: '02:30' }]);
  assert.equal(await count(), DAYS);
}
