import assert from 'node:assert/strict';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { election } from './election.js';
import { database } from './place.js';

export { election };

export const pool = database();
await postgresGuard({ pool }).migrate();
await pool.query('CREATE TABLE receipt (text text NOT NULL)');
await pool.query('CREATE TABLE account (fee int NOT NULL)');
await pool.query('INSERT INTO account VALUES (0)');

const posted: string[] = [];

export async function post(_url: string, key: string): Promise<{ receipt: string }> {
  posted.push(key);
  return { receipt: `paid ${posted.length}` };
}

export async function afterwards(): Promise<void> {
  assert.deepEqual(posted, ['settlement/batch%2F17/pay']);
  assert.deepEqual((await pool.query('SELECT text FROM receipt')).rows, [{ text: 'paid 1' }]);
  assert.deepEqual((await pool.query('SELECT fee FROM account')).rows, [{ fee: 1 }]);
}
