import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { database } from './place.js';

export const pool = database();
await postgresGuard({ pool }).migrate();
await pool.query('CREATE TABLE payment (id bigserial PRIMARY KEY)');

export async function afterwards({ app }: { app?: Express }): Promise<void> {
  assert(app !== undefined);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pay = async (token: string) => {
    const headers = { 'Fencing-Token': token, 'Fencing-Resource': 'ledger' };
    return (await fetch(`http://127.0.0.1:${port}/payments`, { method: 'POST', headers })).status;
  };
  assert.deepEqual([await pay('8'), await pay('7'), await pay('8')], [201, 409, 201]);
  assert.deepEqual((await pool.query('SELECT count(*)::int FROM payment')).rows, [{ count: 2 }]);
}
