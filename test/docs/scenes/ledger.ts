import assert from 'node:assert/strict';
import { presenter } from '../../../src/fencing/index.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { StaleTokenError } from '../../../src/index.js';
import { election } from './election.js';
import { database } from './place.js';

export { election };

const pool = database();
await pool.query('CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)');
await pool.query('INSERT INTO account VALUES (7, 500)');

export async function afterwards(): Promise<void> {
  assert.deepEqual((await pool.query('SELECT id, balance FROM account')).rows, [{ id: 7, balance: 400 }]);
  await assert.rejects(postgresGuard({ pool }).check(presenter(1n), 'ledger'), StaleTokenError);
}
