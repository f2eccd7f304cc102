import assert from 'node:assert/strict';
import { presenter } from '../../../src/fencing/index.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { StaleTokenError } from '../../../src/index.js';
import { database } from './place.js';

export const guard = postgresGuard({ pool: database() });
await guard.migrate();
await guard.check(presenter(7n), 'ledger');

export async function afterwards(): Promise<void> {
  await assert.rejects(guard.check(presenter(7n), 'ledger'), StaleTokenError);
  assert.equal((await guard.highest('ledger'))?.holder, 'operator: ann');
}
