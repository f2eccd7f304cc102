import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../src/lease/backoff.js';
import { systemClock } from '../../src/lease/clock.js';
import { disturbances } from '../../src/lease/disturbance.js';
import { defaultLeaseMs, leaseRemaining, renewed, untilOverdue } from '../../src/lease/lease.js';
import { patienceBasis, patienceEnds } from '../../src/lease/patience.js';

const at = (ms: number, boot = ms) => ({ monotonic: ms, boot });

describe('a lease', () => {
  it('counts from the send time, whichever clock has counted more', () => {
    const lease = { lengthMs: 1000, from: at(5000) };
    expect(leaseRemaining(lease, at(5400))).toBe(600);
    // Suspended for 900 ms: the monotonic clock stood still, the boot clock did not.
    expect(leaseRemaining(lease, at(5200, 6100))).toBe(-100);
    expect(leaseRemaining(lease, at(6000))).toBe(0);
  });

  it('is never shortened by a reply that comes late', () => {
    const lease = { lengthMs: 1000, from: at(5000) };
    expect(renewed(lease, at(4000))).toEqual(lease);
    expect(renewed(lease, at(5500)).from).toEqual(at(5500));
  });

  it('is overdue before it is over', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 0, max: 200_000 }), (lengthMs, age) => {
        const lease = { lengthMs, from: at(0) };
        expect(untilOverdue(lease, at(age))).toBeLessThan(leaseRemaining(lease, at(age)));
      }),
    );
    expect(defaultLeaseMs(10_000)).toBe(6_666);
  });
});

describe('patience', () => {
  it('counts from the newest sighting while the watches were in place, else from the vacancy', () => {
    expect(patienceBasis({ kind: 'armed', at: 100 }, 900)).toBe(100);
    expect(patienceBasis({ kind: 'unseen' }, 900)).toBe(900);
    expect(patienceBasis({ kind: 'gap' }, 900)).toBe(900);
    // A sighting that arrives after the vacancy can't push the end away: what it shows can't be confirmed any more.
    expect(patienceBasis({ kind: 'armed', at: 950 }, 900)).toBe(900);
  });

  it('outlasts the old lease for any two clocks within 5 % of one another', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 50, max: 60_000 }),
        fc.double({ min: 0, max: 0.05, noNaN: true }),
        fc.boolean(),
        fc.integer({ min: 0, max: 5_000 }),
        (leaseMs, skew, oursFaster, seenAfterMs) => {
          // In the old leader's milliseconds: its lease runs from 0, and we saw the renewal some time after it was sent.
          const rate = oursFaster ? 1 + skew : 1 / (1 + skew);
          const seen = seenAfterMs * rate;
          const ends = patienceEnds(seen, leaseMs) / rate;
          expect(ends).toBeGreaterThan(leaseMs);
        },
      ),
    );
  });

  it('adds the takeover delay', () => {
    expect(patienceEnds(100, 1000, 500)).toBeCloseTo(100 + 1060 + 500);
  });
});

describe('disturbances', () => {
  const bounds = { pauseMs: 200, jumpMs: 1000 };
  const start = { monotonic: 0, boot: 0, wall: 1_000_000 };
  it.each([
    ['nothing', { monotonic: 100, boot: 100, wall: 1_000_100 }, []],
    ['a busy moment', { monotonic: 290, boot: 290, wall: 1_000_290 }, []],
    ['a freeze', { monotonic: 5_100, boot: 5_100, wall: 1_005_100 }, ['process_paused']],
    ['a suspended machine', { monotonic: 100, boot: 9_100, wall: 1_009_100 }, ['suspended']],
    ['a wall clock set back', { monotonic: 100, boot: 100, wall: 900_000 }, ['clock_jumped']],
    ['a wall clock set forward', { monotonic: 100, boot: 100, wall: 1_100_000 }, ['clock_jumped']],
    ['a slewing wall clock', { monotonic: 100, boot: 100, wall: 1_000_101 }, []],
    ['coarse boot clock', { monotonic: 100, boot: 110, wall: 1_000_100 }, []],
    ['a freeze over a jump', { monotonic: 900, boot: 900, wall: 1_100_000 }, ['process_paused', 'clock_jumped']],
  ])('%s', (_, after, kinds) => {
    expect(disturbances(start, after, 100, bounds).map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe('backoff', () => {
  it('is anywhere between nothing and a bound that grows up to a cap', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.double({ min: 0, max: 0.999_999, noNaN: true }), (attempt, random) => {
        const ms = backoffMs({ baseMs: 50, capMs: 2_000 }, attempt, () => random);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThan(Math.min(2_000, 50 * 2 ** Math.min(attempt, 30)) + 1e-9);
      }),
    );
  });
});

describe('the system clocks', () => {
  it('all go forward, together', async () => {
    const before = { monotonic: systemClock.monotonic(), boot: systemClock.boot() };
    await new Promise<void>((resolve) => systemClock.after(60, resolve));
    const monotonic = systemClock.monotonic() - before.monotonic;
    const boot = systemClock.boot() - before.boot;
    expect(monotonic).toBeGreaterThanOrEqual(59);
    expect(Math.abs(boot - monotonic)).toBeLessThan(40);
  });

  it('a cancelled timer never fires', async () => {
    let fired = false;
    systemClock.after(1, () => {
      fired = true;
    })();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(fired).toBe(false);
  });
});
