import assert from 'node:assert/strict';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { database } from './place.js';
import { term } from './term.js';

export { term };

const pool = database();
await pool.query('CREATE TABLE product (price int NOT NULL)');
await pool.query('INSERT INTO product VALUES (1)');
export const guard = postgresGuard({ pool });
await guard.migrate();

export async function afterwards(): Promise<void> {
  // The delayed retry went through: that is what the page warns of.
  assert.deepEqual((await pool.query('SELECT price FROM product')).rows, [{ price: 10 }]);
}
