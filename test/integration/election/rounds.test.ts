import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { ActBook } from '../../support/acts.js';
import { Operator } from '../../support/operator.js';
import { WorkerProcess } from '../../support/worker-process.js';

/*
 * Fifty times the leader's process is killed, or frozen until another one leads and then continued. From the field: 1 (the old
 * path trusted after an expiry), 8 (a session that died while its candidate waited), 12 (restarts that leave several leaders),
 * 3 (ghosts).
 */

const ROUNDS = 50;
const WORKERS = 4;
const ELECTION = 'rounds';

let ensemble: Ensemble;
let operator: Operator;
const book = new ActBook();
const alive = new Set<WorkerProcess>();
let started = 0;

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 200, fsync: false });
  operator = await Operator.at(ensemble.connectString, { sessionTimeoutMs: 4_000 });
  await Promise.all(Array.from({ length: WORKERS }, join));
});

afterAll(async () => {
  await Promise.all([...alive].map((worker) => worker.kill()));
  await operator?.close();
  await ensemble?.close();
});

async function join(): Promise<void> {
  started += 1;
  const id = `worker-${started}`;
  const parameters = { servers: ensemble.connectString, election: ELECTION, id, sessionTimeoutMs: 600 };
  const worker = await WorkerProcess.start(parameters, { book });
  alive.add(worker);
}

/** The worker with the newest term, once that is above `above`, and acts. */
function leader(above: bigint): Promise<WorkerProcess> {
  return waitFor(
    () => {
      const newest = book.all.at(-1);
      if (newest === undefined || newest.token <= above) return undefined;
      return [...alive].find((worker) => worker.id === newest.who);
    },
    { what: `a leader with a token above ${above}`, intervalMs: 5 },
  );
}

it(`${ROUNDS} kills and freezes: never two leaders, tokens that rise, terms without a gap, no ghost`, async () => {
  const replacements: Promise<void>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const token = book.all.at(-1)?.token ?? 0n;
    const victim = await leader(round === 0 ? 0n : token - 1n);
    const beheaded = book.all.at(-1)?.token ?? 0n;
    if (round % 2 === 0) {
      await victim.kill();
      alive.delete(victim);
      replacements.push(join());
      await leader(beheaded);
    } else {
      victim.freeze();
      await leader(beheaded);
      victim.thaw();
    }
  }
  await Promise.all(replacements);

  const queue = await operator.queueOf(ELECTION, WORKERS);
  expect(new Set(queue.map(({ owner }) => owner)).size).toBe(WORKERS);
  expect(await operator.children(ELECTION)).toHaveLength(WORKERS);

  const terms = book.all;
  expect(terms.length).toBeGreaterThanOrEqual(ROUNDS + 1);
  // In the order of their tokens, the terms are numbered 1, 2, 3, …, and each begins after the one before it has ended.
  expect(terms.map(({ term }) => term)).toEqual(terms.map((_, index) => index + 1));
  for (const [index, { first }] of terms.entries()) {
    if (index > 0) expect(first).toBeGreaterThan(terms[index - 1]?.last ?? 0);
  }
  expect(book.worstOverlapMs).toBeLessThan(0);
  // Each token was held by one process, and each process was told of the end of each term that it lived to see.
  expect(new Set(terms.map(({ token }) => token)).size).toBe(terms.length);
  for (const worker of alive) {
    const began = worker.reports.filter(({ event }) => event === 'began').length;
    const ended = worker.reports.filter(({ event }) => event === 'ended').length;
    expect(began - ended).toBe(worker.id === terms.at(-1)?.who ? 1 : 0);
  }
  console.info(
    `${terms.length} terms; the shortest time between two of them was ${Math.round(-book.worstOverlapMs)} ms`,
  );
}, 150_000);
