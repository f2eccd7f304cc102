import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { connect, type Tenure, TenureError } from '../../../src/index.js';
import { monotonicMs } from '../../../src/verify/monotonic.js';
import { ActBook } from '../../support/acts.js';
import { Contender } from '../../support/contender.js';
import { Operator } from '../../support/operator.js';
import { WorkerProcess } from '../../support/worker-process.js';

/* Operators against everything that happens at the same time, on an ensemble of three. */

const order = { by: 'ada', reason: 'a race' };

let ensemble: Ensemble;
let ops: Tenure;
let shell: Operator;

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 300, fsync: false });
  ops = await connect({ servers: ensemble.connectString, lifeline: false });
  shell = await Operator.at(ensemble.connectString, { sessionTimeoutMs: 6_000 });
});

afterAll(async () => {
  await shell?.close();
  await ops?.close();
  await ensemble?.close();
});

it('a pause against a claim: once it is on record nobody claims, however close it was', async () => {
  const name = 'pause-claim';
  const [a, b] = await Promise.all(
    ['a', 'b'].map((id) =>
      Contender.enter(ensemble.connectString, name, id, {
        sessionTimeoutMs: 6_000,
        lead: { again: true, cooldownMs: 0 },
      }),
    ),
  );
  const election = ops.election(name);
  let claimedFirst = 0;
  for (let round = 0; round < 25; round++) {
    const leader = await waitFor(() => [a, b].find((each) => each?.leads), { what: 'a leader', intervalMs: 1 });
    const { number } = leader.term ?? { number: 0 };
    // The other one claims a few milliseconds from now; the pause comes before, after, or at the same time.
    const resigned = leader.term?.resign();
    await new Promise((resolve) => setTimeout(resolve, (round % 5) * 2));
    await election.pause(order);
    const then = await shell.record(name);
    await resigned;
    await waitFor(async () => (await election.current()).state === 'paused', { what: 'nobody to lead' });
    await new Promise((resolve) => setTimeout(resolve, 30));
    const later = await shell.record(name);
    expect(later?.['term']).toBe(then?.['term']);
    if (Number(later?.['term']) > number) claimedFirst += 1;
    await election.resume(order);
  }
  console.info(`${claimedFirst} of 25 claims came before the pause`);
  await Promise.all([a?.stop(), b?.stop()]);
}, 120_000);

it('orders from two operators, freezes and kills: leases never overlap, terms follow one another', async () => {
  const name = 'orders';
  const book = new ActBook();
  const parameters = { servers: ensemble.connectString, election: name, sessionTimeoutMs: 900 };
  const workers = new Map<string, WorkerProcess>();
  let started = 0;
  const join = async (): Promise<void> => {
    const id = `w${++started}`;
    workers.set(id, await WorkerProcess.start({ ...parameters, id }, { book }));
  };
  await Promise.all([join(), join(), join(), join()]);
  const other = await connect({ servers: ensemble.connectString, lifeline: false });
  const refusals = new Map<string, number>();
  const asked = async (act: () => Promise<unknown>): Promise<void> => {
    await act().catch((error: unknown) => {
      if (!(error instanceof TenureError)) throw error;
      refusals.set(error.code, (refusals.get(error.code) ?? 0) + 1);
    });
  };
  const operate = async (tenure: Tenure, rounds: number, offset: number): Promise<void> => {
    const election = tenure.election(name);
    for (let round = offset; round < rounds + offset; round++) {
      const { candidates, token } = await election.current();
      const any = candidates[(round * 7) % Math.max(1, candidates.length)]?.node ?? '';
      if (round % 4 === 0) await asked(() => election.transfer({ ...order, to: any, deadlineMs: 2_000 }));
      else if (round % 4 === 1) await asked(() => election.evict({ ...order, node: candidates[0]?.node ?? '' }));
      else if (round % 4 === 2) {
        await asked(() => election.pause(order));
        await new Promise((resolve) => setTimeout(resolve, 50));
        await asked(() => election.resume(order));
      } else await asked(() => election.raiseFloor({ ...order, to: (token ?? 0n) + BigInt(round % 3) }));
      // Slower than a successor is patient, or two who evict would let nobody come to lead.
      await new Promise((resolve) => setTimeout(resolve, 450));
    }
  };
  const harm = async (): Promise<void> => {
    for (let round = 0; round < 8; round++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const victim = workers.get(book.all.at(-1)?.who ?? '');
      if (victim === undefined) continue;
      if (round % 4 === 3) {
        await victim.kill();
        workers.delete(victim.id);
        await join();
      } else {
        victim.freeze();
        await new Promise((resolve) => setTimeout(resolve, 300 + round * 150));
        victim.thaw();
      }
    }
  };
  await Promise.all([operate(ops, 24, 0), operate(other, 24, 2), harm()]);
  await asked(() => ops.election(name).resume(order));

  const over = monotonicMs();
  await waitFor(() => (book.all.at(-1)?.last ?? 0) > over, { what: 'somebody to lead when all is over' });
  const queue = await shell.queueOf(name, workers.size);
  expect(new Set(queue.map(({ owner }) => owner)).size).toBe(workers.size);
  const terms = book.all;
  // How many came to act before the next order is a matter of the machine; how many were claimed is not.
  expect(terms.at(-1)?.term ?? 0, `${terms.length} terms acted`).toBeGreaterThan(5);
  expect(terms.length).toBeGreaterThan(1);
  // Terms that were given up before anybody acted have left no act; those that have come in order, one after another.
  for (const [index, { term, first }] of terms.entries()) {
    const before = terms[index - 1];
    if (before === undefined) continue;
    expect(term).toBeGreaterThan(before.term);
    expect(first).toBeGreaterThan(before.last);
  }
  expect(book.worstOverlapMs).toBeLessThan(0);
  console.info(`${terms.length} terms under orders; refused: ${JSON.stringify(Object.fromEntries(refusals))}`);
  await Promise.all([...workers.values()].map((worker) => worker.kill()));
  await other.close();
}, 240_000);

it('a target that is killed while the leader drains: the next one leads, and the transfer is struck out', async () => {
  const name = 'target-dies';
  const book = new ActBook();
  let finish = (): void => {};
  const work = () => new Promise<void>((resolve) => (finish = resolve));
  const a = await Contender.enter(ensemble.connectString, name, 'a', { sessionTimeoutMs: 6_000, work, book });
  const term = await a.leading();
  const parameters = { servers: ensemble.connectString, election: name, sessionTimeoutMs: 900, id: 'target' };
  const target = await WorkerProcess.start(parameters, { book });
  await shell.queueOf(name, 2);
  const b = await Contender.enter(ensemble.connectString, name, 'b', { sessionTimeoutMs: 6_000, book });
  await b.joined();
  await ops.election(name).transfer({ ...order, to: 'target' });
  expect(await a.lost(term)).toBe('transferred');
  await target.kill();
  finish();
  const next = await waitFor(() => (b.leads ? b.term : undefined), { what: 'b to lead' });
  expect(next.previous?.leaderId).toBe('a');
  expect(await shell.record(name)).toMatchObject({ transfer: null });
  expect(book.worstOverlapMs).toBeLessThan(0);
  await Promise.all([a.stop(), b.stop()]);
}, 60_000);
