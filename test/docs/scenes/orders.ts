import assert from 'node:assert/strict';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { database } from './place.js';
import { term } from './term.js';

export { term };

export const pool = database();
await postgresGuard({ pool }).migrate();
await pool.query('CREATE TABLE shipment (id bigserial PRIMARY KEY)');

export interface KafkaMessage {
  readonly headers: Record<string, Buffer | undefined>;
}

/** What arrives is what was sent. */
export const message: KafkaMessage = { headers: {} };
export const producer = {
  async send({ headers }: { headers: Record<string, string> }): Promise<void> {
    for (const [name, value] of Object.entries(headers)) message.headers[name] = Buffer.from(value);
  },
};

export async function afterwards({ outcome }: { outcome?: string }): Promise<void> {
  assert.equal(outcome, 'handled');
  assert.deepEqual((await pool.query('SELECT count(*)::int FROM shipment')).rows, [{ count: 1 }]);
}
