import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { ActBook } from '../../support/acts.js';
import { type Claim, ClaimLog } from '../../support/claim-log.js';
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
let claims: ClaimLog;
/** All that were ever started, the dead as well. */
const workers = new Map<string, WorkerProcess>();

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 200, fsync: false });
  operator = await Operator.at(ensemble.connectString, { sessionTimeoutMs: 4_000 });
  claims = await ClaimLog.follow(operator, ELECTION);
  await Promise.all(Array.from({ length: WORKERS }, (_, i) => join(i + 1)));
});

afterAll(async () => {
  await Promise.all([...alive].map((worker) => worker.kill()));
  await operator?.close();
  await ensemble?.close();
});

async function join(number: number): Promise<void> {
  const id = `worker-${number}`;
  const parameters = { servers: ensemble.connectString, election: ELECTION, id, sessionTimeoutMs: 600 };
  const worker = await WorkerProcess.start(parameters, { book });
  alive.add(worker);
  workers.set(id, worker);
}

/**
 * Why nobody acted in a term, or that nothing is known that would excuse it. On a machine that is busy enough a claim is
 * confirmed when its lease is over, or when its candidate is lost: then the term begins and ends for nobody.
 */
function whyIdle({ term, leaderId }: Claim): string {
  const worker = workers.get(leaderId);
  if (worker === undefined) return 'claimed by nobody that was started';
  const said = new Set(worker.reports.flatMap((each) => ('term' in each && each.term === term ? [each.event] : [])));
  if (!said.has('elected')) return said.size === 0 ? NEVER_OPENED : 'it went on without having been elected';
  if (!said.has('lost') && alive.has(worker)) return 'its leader was never told of its end, and did nothing';
  return LOST_AT_ONCE;
}

const NEVER_OPENED = 'never opened';
const LOST_AT_ONCE = 'lost before anything was done';

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

it(`${ROUNDS} kills and freezes: never two leaders, tokens that rise, claims without a gap, no ghost`, async () => {
  const replacements: Promise<void>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const token = book.all.at(-1)?.token ?? 0n;
    const victim = await leader(round === 0 ? 0n : token - 1n);
    const beheaded = book.all.at(-1)?.token ?? 0n;
    if (round % 2 === 0) {
      await victim.kill();
      alive.delete(victim);
      replacements.push(join(WORKERS + replacements.length + 1));
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
  const newest = terms.at(-1)?.term ?? 0;
  await waitFor(() => (claims.all.at(-1)?.term ?? 0) >= newest, { what: 'the record of the newest term to be read' });
  // All claims that were ever on record are numbered 1, 2, 3, …, with tokens that rise.
  const all = claims.all;
  expect(all.map(({ term }) => term)).toEqual(all.map((_, index) => index + 1));
  for (const [index, { token }] of all.entries()) {
    if (index > 0) expect(token).toBeGreaterThan(all[index - 1]?.token ?? 0n);
  }
  // Whoever acted had claimed, under this number and this token, and began after the one before had ended.
  for (const [index, { who, term, token, first }] of terms.entries()) {
    expect(all[term - 1]).toEqual({ term, token, leaderId: who });
    if (index > 0) expect(first).toBeGreaterThan(terms[index - 1]?.last ?? 0);
  }
  // Few of the terms before that had no act, and each of them for a reason.
  const acted = new Set(terms.map(({ term }) => term));
  const idle = all.filter(({ term }) => term < newest && !acted.has(term));
  for (const claim of idle) expect([NEVER_OPENED, LOST_AT_ONCE], `term ${claim.term}`).toContain(whyIdle(claim));
  expect(idle.length).toBeLessThan(ROUNDS / 2);
  expect(book.worstOverlapMs).toBeLessThan(0);
  // Each token was held by one process, and each process was told of the end of each term that it lived to see.
  expect(new Set(terms.map(({ token }) => token)).size).toBe(terms.length);
  for (const worker of alive) {
    const began = worker.reports.filter(({ event }) => event === 'began').length;
    const ended = worker.reports.filter(({ event }) => event === 'ended').length;
    expect(began - ended).toBe(worker.id === terms.at(-1)?.who ? 1 : 0);
  }
  console.info(
    `${terms.length} terms, ${idle.length} without an act; the shortest time between two of them was ${Math.round(-book.worstOverlapMs)} ms`,
  );
}, 150_000);
