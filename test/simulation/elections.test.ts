import { describe, expect, it } from 'vitest';
import { DoubtTrail, oneHolderPerToken, overlaps, RecordTrail } from './checker.js';
import { type Act, Fleet } from './fleet.js';
import { torment } from './nemesis.js';
import type { Change, Submission } from './transaction.js';
import { createWorld } from './world.js';

const ELECTION = 'settlement';
const CANDIDATES = 4;
const T = 4_000;

/** One seed: a fleet is tormented for so long, then left in peace; returns what went wrong. */
async function story(
  seed: number,
  forMs: number,
  operators: boolean,
): Promise<{
  violations: string[];
  terms: number;
  steps: number;
  acts: number;
  orders: ReadonlyMap<string, number>;
  log: string;
}> {
  const trail = new RecordTrail(ELECTION, T);
  const world = createWorld({
    seed,
    historyLimit: 3_000,
    onCommit: (transaction, outcome) => trail.committed(transaction, outcome, world.now),
  });
  const doubts = new DoubtTrail();
  let log = '';
  const fleet = new Fleet(world, {
    election: ELECTION,
    sessionTimeoutMs: T,
    onTold: (told) => doubts.told(told),
    onAct: (act) => {
      trail.acted(act);
      // What came before is what tells why; much more comes behind.
      if (log === '' && trail.violations.length > 0) log = world.history.toString();
    },
  });
  // Any two clocks within 5 % of one another.
  for (let i = 0; i < CANDIDATES; i++) fleet.start(1 + (world.random.fraction() - 0.5) * 0.048);
  await torment(world, fleet, ELECTION, forMs, { operators });
  await world.run({ untilMs: world.now + 12 * T });

  const violations = [
    ...trail.violations,
    ...doubts.violations,
    ...overlaps(fleet.acts),
    ...oneHolderPerToken(fleet.acts),
    ...fleet.failures,
  ];
  const queue = world.childrenOf(`/tenure/${ELECTION}/queue`);
  if (queue.length !== fleet.alive.length)
    violations.push(`${fleet.alive.length} candidates live, ${queue.length} stand in the queue`);
  const last = fleet.acts.at(-1);
  if (last === undefined || world.now - last.at > T)
    violations.push(`nobody leads in the end; the last act was at ${last?.at} of ${world.now}`);
  return {
    violations,
    terms: trail.terms.length,
    steps: world.steps,
    acts: fleet.acts.length,
    orders: fleet.orders,
    log: log === '' ? world.history.toString() : log,
  };
}

const SEEDS = Number(process.env['TENURE_SIMULATION_SEEDS'] ?? 40);
const FIRST = Number(process.env['TENURE_SIMULATION_FIRST_SEED'] ?? 1);
const MINUTES = Number(process.env['TENURE_SIMULATION_MINUTES'] ?? 4);

describe('a fleet under every kind of fault, in virtual time', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => FIRST + i))(
    'seed %i: leases never overlap, tokens increase, nobody is left behind',
    async (seed) => {
      const { violations, terms, steps, acts, log } = await story(seed, MINUTES * 60_000, false);
      if (process.env['TENURE_SIMULATION_VERBOSE']) console.log({ seed, terms, steps, acts });
      expect(violations, `history:\n${log.slice(-20_000)}`).toEqual([]);
      expect(terms).toBeGreaterThan(5);
    },
    120_000,
  );
});

describe('a fleet whose operators pause, transfer, evict, hold and raise floors at the worst of times', () => {
  it.each(Array.from({ length: Math.ceil(SEEDS / 2) }, (_, i) => FIRST + i))(
    'seed %i: leases never overlap, tokens increase, nobody claims while paused, nobody is left behind',
    async (seed) => {
      const { violations, terms, steps, acts, orders, log } = await story(seed, MINUTES * 60_000, true);
      if (process.env['TENURE_SIMULATION_VERBOSE'])
        console.log({ seed, terms, steps, acts, ...Object.fromEntries(orders) });
      expect(violations, `history:\n${log.slice(-20_000)}`).toEqual([]);
      expect(terms).toBeGreaterThan(5);
      expect(orders.size).toBeGreaterThan(2);
    },
    120_000,
  );
});

describe('the checker', () => {
  const act = (at: number, who: string, term: number, token: bigint): Act => ({ at, who, term, token });

  it('finds an act that comes after one of a later term', () => {
    expect(overlaps([act(1, 'a', 1, 10n), act(2, 'b', 2, 20n), act(3, 'b', 2, 20n)])).toEqual([]);
    expect(overlaps([act(1, 'a', 1, 10n), act(2, 'b', 2, 20n), act(3, 'a', 1, 10n)])).toHaveLength(1);
  });

  it('finds a token with two holders', () => {
    expect(oneHolderPerToken([act(1, 'a', 1, 10n), act(2, 'a', 1, 10n)])).toEqual([]);
    expect(oneHolderPerToken([act(1, 'a', 1, 10n), act(2, 'b', 1, 10n)])).toHaveLength(1);
  });

  it('finds an act of a term that is recorded as ended, or whose node has been gone for longer than a lease', () => {
    const latest = { term: 1, token: '10', node: 'n', leaderId: 'a', session: 's', leaseMs: 2_666, metadata: {} };
    const electedAt = new Date(0).toISOString();
    const told = (change: Change, acts: readonly Act[]) => {
      const trail = new RecordTrail(ELECTION, T);
      const record = (ended: object | null): Change => {
        const value = { v: 1, ...latest, electedAt, ended, floor: '0', pause: null, transfer: null, previous: null };
        return { type: 'write', path: `/tenure/${ELECTION}/term`, data: Buffer.from(JSON.stringify(value)) };
      };
      const commit = (what: Change, at: number) =>
        trail.committed(
          { zxid: 1n, time: 0, change: what, submission: {} as Submission },
          { ok: true, path: '', stat: null },
          at,
        );
      commit(record(null), 0);
      commit(change.type === 'nothing' ? record({ at: electedAt, how: 'resigned' }) : change, 100);
      for (const each of acts) trail.acted(each);
      return trail.violations.length;
    };
    const gone: Change = { type: 'remove', path: `/tenure/${ELECTION}/queue/n` };
    expect(told({ type: 'nothing' }, [act(99, 'a', 1, 10n)])).toBe(0);
    expect(told({ type: 'nothing' }, [act(101, 'a', 1, 10n)])).toBe(1);
    expect(told(gone, [act(2_800, 'a', 1, 10n)])).toBe(0);
    expect(told(gone, [act(2_900, 'a', 1, 10n)])).toBe(1);
  });

  it('finds a doubt that ended with a renewal that was sent before it', () => {
    const told = (confirmedAt: number) => {
      const doubts = new DoubtTrail();
      doubts.told({ who: 'a', event: 'suspect', fields: {}, monotonic: 100 });
      doubts.told({ who: 'a', event: 'renewal_confirmed', fields: { roundTripMs: 5 }, monotonic: confirmedAt });
      doubts.told({ who: 'a', event: 'leading', fields: {}, monotonic: confirmedAt });
      return doubts.violations.length;
    };
    expect(told(105)).toBe(0);
    expect(told(104)).toBe(1);
  });
});
