import assert from 'node:assert/strict';
import type { Term } from '../../../src/index.js';
import { election } from './election.js';

export { election };

const settled: number[] = [];

export async function settle(term: Term): Promise<void> {
  term.assert();
  settled.push(term.number);
}

export async function afterwards({ chance }: { chance?: Term | null }): Promise<void> {
  assert.equal(settled.length, 1);
  // Nobody stood before it.
  assert((chance?.number ?? 0) > (settled[0] ?? 0));
  assert.equal((await election.current()).leader, null);
}
