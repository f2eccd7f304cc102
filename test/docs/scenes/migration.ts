import assert from 'node:assert/strict';
import { connect, type Term } from '../../../src/index.js';
import { servers } from './place.js';

export { connect };

const settled: bigint[] = [];

export async function settle(term: Term): Promise<void> {
  term.assert();
  settled.push(term.token);
}

export async function afterwards(): Promise<void> {
  assert.equal(settled.length, 1);
  const tenure = await connect({ servers: `${servers}/prod`, lifeline: false });
  assert.deepEqual((await tenure.election('settlement').current()).term, 1);
  await tenure.close();
}
