import assert from 'node:assert/strict';
import { election } from './election.js';
import { database } from './place.js';

export { election };

const pool = database();
await pool.query('CREATE TABLE payments (settled boolean NOT NULL)');
await pool.query('INSERT INTO payments VALUES (false), (false)');

export async function afterwards(): Promise<void> {
  const { rows } = await pool.query('SELECT count(*)::int AS settled FROM payments WHERE settled');
  assert.deepEqual(rows, [{ settled: 2 }]);
  const fence = await pool.query("SELECT token FROM tenure.fence WHERE resource = 'settlement'");
  assert(BigInt(fence.rows[0].token) > 0n);
}
