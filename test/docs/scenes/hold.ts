import assert from 'node:assert/strict';
import { election, tenure } from './election.js';

export { election, tenure };

export async function afterwards(): Promise<void> {
  // Both holds are over: it may lead.
  const term = await election.campaign({ wait: false });
  assert.equal(term?.number, 1);
}
