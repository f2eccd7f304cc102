import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble } from '../../../deploy/local/index.js';
import { monotonicMs } from '../../../src/verify/monotonic.js';

/* Nothing of ours keeps a process alive that has nothing more to do. */

let ensemble: Ensemble;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
});

afterAll(async () => {
  await ensemble?.close();
});

it.each([
  ['import', 'after it has imported the module'],
  ['close', 'when close() has resolved, with a term, a campaign and an observer under way'],
  ['fail', 'when it could not connect'],
])('%s: a process exits by itself %s', async (what) => {
  const script = fileURLToPath(new URL('../../support/exits.ts', import.meta.url));
  const args = ['--import', 'tsx', script, what, ensemble.connectString];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 });
  // No timer that it waited for: it was gone long before any of ours would have rung.
  expect(monotonicMs() - Number(stdout)).toBeLessThan(9_000);
});
