import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Term } from '../../../src/index.js';
import { servers } from './place.js';

/* A worker that is told to stop while it settles. */

const done: string[] = [];

export async function loadState(token: bigint): Promise<void> {
  done.push(`loaded with ${token}`);
}

export async function settle(term: Term): Promise<void> {
  assert.deepEqual(done, [`loaded with ${term.token}`]);
  process.kill(process.pid, 'SIGTERM');
  await once(term.signal, 'abort');
  term.assert(); // it may finish what it began
  done.push('finished');
}

export async function afterwards(): Promise<void> {
  assert.equal(done.at(-1), 'finished');
  const tenure = await connect({ servers: `${servers}/prod`, lifeline: false });
  const [entry] = await tenure.election('settlement').history();
  assert.equal(entry?.kind === 'term' && entry.how, 'resigned');
  await tenure.close();
}
