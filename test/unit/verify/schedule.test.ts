import { describe, expect, it } from 'vitest';
import { FAULTS } from '../../../src/verify/faults.js';
import { Random } from '../../../src/verify/random.js';
import { possibleFaults } from '../../../src/verify/run.js';
import { type Planned, schedule } from '../../../src/verify/schedule.js';

function first(count: number, seed: number, faults: readonly string[] = ['a', 'b', 'c'], longestPauseMs = 2_000) {
  const planned: Planned[] = [];
  for (const each of schedule(new Random(seed), faults, longestPauseMs)) {
    planned.push(each);
    if (planned.length === count) break;
  }
  return planned;
}

const plain = (planned: readonly Planned[]) =>
  planned.map(({ pauseMs, fault, random }) => ({ pauseMs, fault, drawn: [random.fraction(), random.fraction()] }));

describe('a schedule', () => {
  it('is the same for the same seed, down to what is left to chance in each fault', () => {
    expect(plain(first(50, 7))).toEqual(plain(first(50, 7)));
    expect(plain(first(50, 7))).not.toEqual(plain(first(50, 8)));
  });

  it('does not change with what a fault draws', () => {
    const greedy: Planned[] = [];
    for (const each of schedule(new Random(3), ['a', 'b', 'c'], 2_000)) {
      for (let i = 0; i < 17; i++) each.random.fraction();
      greedy.push(each);
      if (greedy.length === 20) break;
    }
    const order = (planned: readonly Planned[]) => planned.map(({ fault, pauseMs }) => ({ fault, pauseMs }));
    expect(order(greedy)).toEqual(order(first(20, 3)));
  });

  it('has each fault once before any comes twice, and not always in one order', () => {
    const rounds = Array.from({ length: 20 }, (_, i) =>
      first(60, 5)
        .slice(3 * i, 3 * i + 3)
        .map(({ fault }) => fault),
    );
    for (const round of rounds) expect(round.toSorted()).toEqual(['a', 'b', 'c']);
    expect(new Set(rounds.map(String)).size).toBeGreaterThan(1);
  });

  it('leaves a while between two of them, and never more than it may', () => {
    for (const { pauseMs } of first(500, 1)) {
      expect(pauseMs).toBeGreaterThanOrEqual(100);
      expect(pauseMs).toBeLessThan(2_000);
    }
  });

  it('needs faults', () => {
    expect(() => first(1, 1, [])).toThrow(RangeError);
  });
});

describe('the faults that are possible', () => {
  it('are all of them, those that were asked for, and by TLS none of the lines', () => {
    expect(possibleFaults(true)).toEqual(Object.keys(FAULTS));
    expect(possibleFaults(true, ['evict', 'kill_worker'])).toEqual(['evict', 'kill_worker']);
    expect(possibleFaults(false, ['drop_connections', 'kill_worker'])).toEqual(['kill_worker']);
    expect(possibleFaults(false)).not.toContain('stall_replies');
  });
});
