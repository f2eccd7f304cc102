import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, type ZooKeeperServer } from '../../../deploy/local/index.js';
import { connect } from '../../../src/index.js';
import { type Cost, countFailovers } from '../../support/failovers.js';
import { Lines } from '../../support/lines.js';
import { monotonicMs } from '../../support/monotonic.js';
import { Operator } from '../../support/operator.js';

/* What elections cost. bench/failover.ts has the figures for 300 candidates, and times. */

let ensemble: Ensemble;
let operator: Operator;
const lines = new Lines();

beforeAll(async () => {
  ensemble = await startEnsemble({ fsync: false });
  operator = await Operator.at(ensemble.connectString);
});

afterAll(async () => {
  await operator?.close();
  await lines.close();
  await ensemble?.close();
});

it('a failover costs the ensemble the same requests and bytes with 3 candidates as with 30', async () => {
  const first = async (candidates: number): Promise<Cost> => {
    const line = await lines.to(ensemble.servers[0] as ZooKeeperServer);
    const costs = await countFailovers(line, `cost-${candidates}-of-them`, candidates, 1);
    await line.close();
    return costs[0] as Cost;
  };
  const few = await first(3);
  const many = await first(30);
  for (const key of ['requests', 'requestBytes', 'replies', 'replyBytes'] as const) {
    console.info(`${key} of a failover: ${few[key]} with 3 candidates, ${many[key]} with 30`);
    // The name of the election, and the digits of a token, are a few bytes.
    expect(many[key] / few[key]).toBeGreaterThan(0.95);
    expect(many[key] / few[key]).toBeLessThan(1.05);
  }
  expect(many.requests).toBe(few.requests);
});

it('a thousand elections on one session are won, held and given up', async () => {
  const tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 10_000 });
  const heapBefore = memory();
  const begin = monotonicMs();
  const campaigns = Array.from({ length: 1_000 }, (_, index) => tenure.election(`thousand/${index}`).campaign());
  const terms = await Promise.all(campaigns);
  const wonAfter = monotonicMs() - begin;
  const kilobytes = (memory() - heapBefore) / 1_000 / 1_024;
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  // One renewal serves them all.
  expect(terms.filter((term) => term.state === 'leading')).toHaveLength(1_000);
  const resigning = monotonicMs();
  await Promise.all(terms.map((term) => term.resign()));
  console.info(
    `1,000 elections: won after ${Math.round(wonAfter)} ms, ${kilobytes.toFixed(1)} kB each, given up in ${Math.round(monotonicMs() - resigning)} ms`,
  );
  for (const index of [0, 499, 999]) expect(await operator.children(`thousand/${index}`)).toEqual([]);
  await tenure.close();
});

function memory(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}
