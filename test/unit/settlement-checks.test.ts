import { describe, expect, it } from 'vitest';
import type { Books, SettledBatch } from '../../examples/settlement/books.js';
import * as checks from '../../examples/settlement/checks.js';
import type { Refusal, TermStory } from '../../examples/settlement/chronicle.js';

const never = Number.POSITIVE_INFINITY;

function story(term: number, electedAt: number, leaseUntil: number, more: Partial<TermStory> = {}): TermStory {
  const defaults = { cause: 'vanished', endedAt: leaseUntil, end: 'killed', stoppedAt: never };
  return { term, token: BigInt(term) * 100n, worker: `worker-${term}`, electedAt, leaseUntil, ...defaults, ...more };
}

function batch(second: number, term: number, more: Partial<SettledBatch> = {}): SettledBatch {
  return { second, term, token: BigInt(term) * 100n, payments: 2, amount: 30, ...more };
}

/** Three seconds, each with two payments, one for each merchant. */
function books(settled: SettledBatch[], more: Partial<Books> = {}): Books {
  return {
    opened: 11,
    settled,
    paid: [11, 12, 13].map((second) => ({ second, payments: 2, amount: 30 })),
    clearing: 0,
    merchants: [
      { name: 'bakery', balance: 30, paid: 30 },
      { name: 'garage', balance: 60, paid: 60 },
    ],
    ...more,
  };
}

const good = books([batch(11, 1), batch(12, 2), batch(13, 2)]);
const terms = [story(1, 0, 50), story(2, 60, 160)];
const refusal: Refusal = { worker: 'worker-1', term: 1, second: 12, token: 100n, highest: 200n };
const evidence: checks.Evidence = {
  terms,
  refusals: [refusal],
  books: good,
  outage: { from: 200, until: 300, before: 3, after: 3 },
  queue: { expected: ['worker-1 (1)', 'worker-2 (2)'], found: ['worker-2 (2)', 'worker-1 (1)'] },
  farewell: { ends: [{ name: 'worker-1', how: 'code 0' }], left: [] },
};

function violated(more: Partial<checks.Evidence>): string[] {
  return checks.findings({ ...evidence, ...more }).flatMap(({ claim, violations }) => (violations[0] ? [claim] : []));
}

describe('the checks of the settlement demo', () => {
  it('find nothing where everything holds', () => {
    expect(violated({})).toEqual([]);
    expect(violated({ farewell: null })).toEqual([]);
  });

  it('find a token that does not rise, and a term that is won twice', () => {
    expect(checks.risingTokens([story(1, 0, 50), story(2, 60, 90, { token: 100n })])).toHaveLength(1);
    expect(checks.risingTokens([story(2, 0, 50), story(2, 60, 90, { token: 300n })])).toHaveLength(1);
    expect(checks.risingTokens([story(3, 0, 50), story(7, 60, 90)])).toEqual([]);
  });

  it('find leases that overlap, be there other terms between them', () => {
    expect(checks.separateLeases([story(1, 0, 61), story(2, 60, 160)])).toEqual([
      'terms 1 and 2: for 1 ms both could act',
    ]);
    expect(checks.separateLeases([story(1, 0, 500), story(2, 60, 70), story(3, 80, 90)])).toHaveLength(2);
    expect(checks.separateLeases([story(1, 0, 60), story(2, 60, 160)])).toEqual([]);
  });

  it('let a lease end when its holder says that it has stopped', () => {
    expect(checks.separateLeases([story(1, 0, 500, { stoppedAt: 55 }), story(2, 60, 160)])).toEqual([]);
  });

  it('find a batch that is settled twice, missing, or from before the opening', () => {
    expect(checks.onceEach(books([batch(11, 1), batch(11, 2), batch(13, 2)]))).toHaveLength(2);
    expect(checks.onceEach(books([batch(11, 1), batch(12, 1)])).join()).toContain('is missing');
    expect(checks.onceEach(books([batch(10, 1), ...good.settled])).join()).toContain('before the books');
    expect(checks.onceEach(books([], { paid: [] }))).toEqual(['nothing was settled at all']);
  });

  it('find a lower token behind a higher one, as often as it wrote', () => {
    expect(checks.orderedWrites(books([batch(11, 2), batch(12, 1), batch(13, 1)]))).toHaveLength(2);
    expect(checks.orderedWrites(good)).toEqual([]);
  });

  it('find a batch of a term that nobody has won', () => {
    expect(checks.knownTerms(terms, books([batch(11, 3)]))).toHaveLength(1);
    expect(checks.knownTerms(terms, books([batch(11, 1, { token: 200n })]))).toHaveLength(1);
  });

  it('find that no stale write was refused, or one that was not stale', () => {
    expect(checks.staleRefused([])).toEqual(['no write was refused']);
    expect(checks.staleRefused([refusal, { ...refusal, token: 200n }])).toHaveLength(1);
  });

  it('find whoever led or settled without a quorum', () => {
    const outage = { from: 200, until: 300, before: 3, after: 3 };
    expect(checks.silence([story(1, 0, 201)], outage)).toEqual(['worker-1 led term 1 in this time']);
    expect(checks.silence([story(1, 250, 260)], outage)).toHaveLength(1);
    expect(checks.silence([story(1, 0, 200), story(2, 300, 400)], outage)).toEqual([]);
    expect(checks.silence([], { ...outage, after: 4 })).toEqual(['1 batches were settled in this time']);
  });

  it('find books that do not balance', () => {
    expect(checks.balance(good)).toEqual([]);
    expect(checks.balance(books([...good.settled, batch(13, 2)]))).toHaveLength(1);
    expect(checks.balance({ ...good, clearing: -30 })).toHaveLength(1);
    expect(checks.balance({ ...good, merchants: [{ name: 'bakery', balance: 31, paid: 30 }] })).toHaveLength(1);
    const late = books([batch(11, 1, { payments: 1, amount: 20 }), batch(12, 1, { amount: 40 }), batch(13, 2)]);
    expect(checks.balance(late)).toHaveLength(2);
  });

  it('find ghosts in the queue, absent workers, and a worker that did not end well', () => {
    const expected = ['a (1)', 'b (2)'];
    const queue = (...found: string[]) => checks.noGhosts({ queue: { expected, found }, farewell: null });
    expect(queue('b (2)', 'a (1)')).toEqual([]);
    expect(queue('a (1)', 'b (2)', 'a (0)')).toEqual(["a (0) stands in the queue, and shouldn't"]);
    expect(queue('a (1)', 'b (2)', 'a (1)')).toHaveLength(1);
    expect(queue('a (1)')).toEqual(["b (2) isn't in the queue"]);
    const farewell = { ends: [{ name: 'a', how: 'SIGKILL' }], left: ['a (1)'] };
    expect(checks.noGhosts({ queue: { expected, found: expected }, farewell })).toHaveLength(2);
  });

  it('name the invariant that is violated', () => {
    expect(violated({ refusals: [] })).toEqual(['a stale leader tried to write, and was refused']);
    expect(violated({ terms: [story(1, 0, 61), story(2, 60, 160)] })).toEqual(['leases of two terms never overlap']);
  });
});
