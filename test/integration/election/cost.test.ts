import { expect, it } from 'vitest';
import { waitFor } from '../../../deploy/local/index.js';
import { connect } from '../../../src/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { type Cost, countFailovers } from '../../support/failovers.js';
import { site } from '../../support/site.js';

/* What elections cost. bench/failover.ts has the figures for 300 candidates, and times. */

const here = site({ fsync: false });

it('a failover costs the ensemble the same requests and bytes with 3 candidates as with 30', async () => {
  const first = async (candidates: number): Promise<Cost> => {
    const line = await here.lines.to(here.server);
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
  const tenure = await connect({ servers: here.ensemble.connectString, sessionTimeoutMs: 10_000 });
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
  for (const index of [0, 499, 999]) expect(await here.operator.children(`thousand/${index}`)).toEqual([]);
  await tenure.close();
}, 120_000);

function memory(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

it('a renewal waits a moment for the thousands that join and claim beside it, and not for all of them', async () => {
  const tenure = await connect({ servers: here.ensemble.connectString, sessionTimeoutMs: 10_000 });
  const steady = await tenure.election('steady').campaign();
  let slowest = 0;
  tenure.events.on('renewal_confirmed', ({ roundTripMs }) => {
    slowest = Math.max(slowest, roundTripMs);
  });
  const begin = monotonicMs();
  const count = 3_000;
  await Promise.all(Array.from({ length: count }, (_, index) => tenure.election(`crowd/${index}`).campaign()));
  const took = monotonicMs() - begin;
  console.info(`${count} elections won in ${Math.round(took)} ms; the slowest renewal took ${Math.round(slowest)} ms`);
  // All at once, it is a quarter of that time; in turns a twentieth.
  expect(slowest).toBeGreaterThan(0);
  expect(slowest / took).toBeLessThan(0.12);
  expect(steady.state).toBe('leading');
  await tenure.close();
}, 240_000);

it('standing behind one leader in two hundred elections costs the reads of one', async () => {
  const leader = await connect({ servers: here.ensemble.connectString, sessionTimeoutMs: 4_000, lifeline: false });
  const names = Array.from({ length: 200 }, (_, index) => `behind/${index}`);
  await Promise.all(names.map((name) => leader.election(name).campaign()));
  const line = await here.lines.to(here.server);
  const successor = await connect({ servers: line.address, sessionTimeoutMs: 4_000, lifeline: false });
  let watching = 0;
  successor.events.on('predecessor', () => {
    watching += 1;
  });
  const campaigns = Promise.allSettled(names.map((name) => successor.election(name).campaign()));
  await waitFor(() => watching === names.length, { what: 'the successor to stand in all queues' });
  // What it asks for by the way, each once.
  await sleep(1_000);
  const before = await line.traffic();
  await sleep(4_000);
  const after = await line.traffic();
  const reads = after.signsOfLife.packets - before.signsOfLife.packets;
  console.info(`${reads} reads of the leader's session in a session timeout, for 200 elections`);
  // Ten renewals, and a few more where one was announced while another was read.
  expect(reads).toBeGreaterThan(2);
  expect(reads).toBeLessThan(40);
  await Promise.all([leader.close(), successor.close()]);
  await campaigns;
  await line.close();
}, 120_000);
