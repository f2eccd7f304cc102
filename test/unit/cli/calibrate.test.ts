import { describe, expect, it } from 'vitest';
import { calibration, distributions } from '../../../src/cli/calibrate/findings.js';
import { bar, histogram } from '../../../src/cli/calibrate/histogram.js';
import type { Measured } from '../../../src/cli/calibrate/measure.js';
import { outlasts, propose, type Question } from '../../../src/cli/calibrate/proposal.js';
import { blockMaxima, silences } from '../../../src/cli/calibrate/silence.js';
import { exceedance, fitTail, LEAST_BLOCKS } from '../../../src/cli/calibrate/tail.js';
import { choicesText, drawn, proposalText } from '../../../src/cli/calibrate/text.js';
import { quantile, summary } from '../../../src/cli/statistics.js';
import { styleFor } from '../../../src/cli/style.js';

const page = { style: styleFor(false), columns: 100 };

/** A fixed sequence in [0, 1), for distributions that are the same in each run. */
function* uniform(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state / 2_147_483_647;
  }
}

function draws(count: number, of: (u: number) => number): number[] {
  const source = uniform();
  return Array.from({ length: count }, () => of(source.next().value));
}

describe('statistics', () => {
  it('are by nearest rank', () => {
    expect([0, 0.5, 0.99, 1].map((share) => quantile([4, 1, 3, 2], share))).toEqual([1, 2, 4, 4]);
    expect(quantile([], 0.5)).toBeNaN();
    expect(summary([])).toBeNull();
    expect(summary([2, 1])).toEqual({ count: 2, p50: 1, p99: 2, max: 2 });
  });
});

describe('silences', () => {
  it('run from the send time of the newest confirmed write to the next confirmation', () => {
    const writes = [
      { sentAt: 0, confirmedAt: 5 },
      { sentAt: 50, confirmedAt: 52 },
      // The ensemble was away: sent in time, confirmed late, all at once.
      { sentAt: 100, confirmedAt: 900 },
      { sentAt: 150, confirmedAt: 901 },
      { sentAt: 902, confirmedAt: 904 },
    ];
    expect(silences(writes)).toEqual([
      { at: 52, ms: 52 },
      { at: 900, ms: 850 },
      { at: 901, ms: 801 },
      { at: 904, ms: 754 },
    ]);
  });

  it('are not ended by the late confirmation of an older write', () => {
    const writes = [
      { sentAt: 100, confirmedAt: 110 },
      { sentAt: 0, confirmedAt: 120 },
      { sentAt: 200, confirmedAt: 210 },
    ];
    expect(silences(writes).map(({ ms }) => ms)).toEqual([20, 110]);
    expect(silences([])).toEqual([]);
  });

  it('count once for each second', () => {
    const found = [0, 100, 999, 1_000, 3_500].map((at) => ({ at, ms: at + 1 }));
    expect(blockMaxima(found, 1_000)).toEqual([1_000, 1_001, 3_501]);
    expect(blockMaxima([], 1_000)).toEqual([]);
  });
});

describe('the tail', () => {
  it('needs something to stand on', () => {
    expect(fitTail(draws(LEAST_BLOCKS - 1, (u) => u))).toBeNull();
    expect(fitTail(draws(LEAST_BLOCKS, () => 0))).toBeNull();
  });

  it('of a Pareto distribution is found', () => {
    // P(X > x) = (x / 10)^-2
    const tail = fitTail(draws(20_000, (u) => 10 / Math.sqrt(1 - u)));
    if (tail === null) throw new Error('no tail');
    expect(tail.weight).toBeGreaterThan(0.4);
    expect(tail.weight).toBeLessThan(0.6);
    expect(exceedance(tail, 10_000) / 1e-6).toBeGreaterThan(0.1);
    expect(exceedance(tail, 10_000) / 1e-6).toBeLessThan(10);
  });

  it('is not lighter than what was seen, nor than the exponential that made it', () => {
    const values = draws(3_600, (u) => 60 - 20 * Math.log(1 - u));
    const tail = fitTail([...values, 2_000]);
    if (tail === null) throw new Error('no tail');
    expect(exceedance(tail, 1_999)).toBeGreaterThanOrEqual(1 / 3_601);
    const light = fitTail(values);
    if (light === null) throw new Error('no tail');
    expect(exceedance(light, 400)).toBeGreaterThan(Math.exp(-(400 - 60) / 20));
    expect(exceedance(light, 0)).toBe(1);
  });

  it('falls', () => {
    const tail = fitTail(draws(300, (u) => 50 + 100 * u));
    if (tail === null) throw new Error('no tail');
    const chances = [60, 140, 200, 500, 1_000, 5_000].map((ms) => exceedance(tail, ms));
    expect(chances).toEqual([...chances].sort((a, b) => b - a));
    expect(chances.at(-1)).toBeGreaterThan(0);
  });
});

const question = (more: Partial<Question> = {}): Question => ({
  tail: fitTail(draws(3_600, (u) => 55 + 40 * u)),
  blockMs: 1_000,
  mustOutlast: [],
  acceptedEveryMs: 30 * 86_400_000,
  writeMs: 5,
  bounds: { tickMs: 2_000, minMs: 4_000, maxMs: 40_000 },
  ...more,
});

describe('the proposal', () => {
  it('is the shortest timeout that is good enough, within what is granted', () => {
    const { choices, best } = propose(question());
    expect(choices.map(({ timeoutMs }) => timeoutMs)).toEqual(
      [4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40].map((s) => s * 1_000),
    );
    expect(best?.timeoutMs).toBe(4_000);
    expect(best?.failoverMs).toBe(4_000 + 3_000 + 10);
    const odds = choices.map(({ falseEveryMs }) => falseEveryMs ?? 0);
    expect(odds).toEqual([...odds].sort((a, b) => a - b));
  });

  it('outlasts each trouble with a margin: a lease less the tenth of T that may have passed', () => {
    expect(outlasts(10_000)).toBe(5_666);
    const trouble = { what: 'a restart', ms: 3_800 };
    const { best, choices } = propose(question({ mustOutlast: [trouble] }));
    // 1.5 × 3,800 = 5,700
    expect(choices.find(({ timeoutMs }) => timeoutMs === 10_000)?.tooShortFor).toEqual(['a restart']);
    expect(best?.timeoutMs).toBe(12_000);
    expect(propose(question({ mustOutlast: [{ what: 'a pause', ms: 3_700 }] })).best?.timeoutMs).toBe(10_000);
  });

  it('is none where nothing that is granted is good enough, or too little was measured', () => {
    expect(propose(question({ mustOutlast: [{ what: 'an outage', ms: 60_000 }] })).best).toBeNull();
    expect(propose(question({ tail: null })).best).toBeNull();
    const wild = fitTail(draws(3_600, (u) => 10 / (1 - u)));
    const accepted = propose(question({ tail: wild, acceptedEveryMs: 600_000 })).best?.timeoutMs ?? 0;
    expect(propose(question({ tail: wild })).best).toBeNull();
    expect(accepted).toBeGreaterThan(4_000);
  });
});

describe('histograms', () => {
  it('count each value in one range, from the first with any to the last', () => {
    const buckets = histogram([0.05, 1, 1.5, 3, 3, 70]);
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(6);
    expect(buckets[0]).toEqual({ fromMs: 0, toMs: 0.1, count: 1 });
    expect(buckets.find(({ fromMs }) => fromMs === 1)).toEqual({ fromMs: 1, toMs: 2, count: 2 });
    expect(buckets.at(-1)).toEqual({ fromMs: 50, toMs: 100, count: 1 });
    expect(histogram([])).toEqual([]);
  });

  it('show what is rare', () => {
    expect(bar(10_000, 10_000, 20)).toBe('█'.repeat(20));
    expect(bar(1, 10_000, 20)).not.toBe('');
    expect(bar(0, 10, 20)).toBe('');
    expect(drawn('writes', [1, 2, 3, 400], page)).toMatch(/^writes: 4; half below 2 ms, .*\n {2}1 ms – 2 ms +1 +█/);
    expect(drawn('writes', [], page)).toBe('writes: none');
  });
});

function measured(seconds: number, worstMs = 100): Measured {
  const writes = Array.from({ length: seconds * 20 }, (_, i) => ({ sentAt: i * 50, confirmedAt: i * 50 + 3 }));
  const found = silences(writes).map(({ at, ms }, i) => ({ at, ms: i === 7 ? worstMs : ms }));
  return {
    forMs: seconds * 1_000,
    grantedMs: 10_000,
    written: { writes, failed: 0, heldBack: 0 },
    silences: found,
    pauses: { loopMs: [1], gcMs: [], schedulerMs: null, throttledMs: null },
    expired: false,
  };
}

describe('a calibration', () => {
  const asked = {
    acceptedEveryMs: 30 * 86_400_000,
    workerPauseMs: undefined,
    bounds: { tickMs: 2_000, minMs: 4_000, maxMs: 40_000 },
  };

  it('proposes, and says for what odds and on what ground', () => {
    const found = calibration(measured(120), null, asked);
    expect(found.proposal?.timeoutMs).toBe(4_000);
    const text = proposalText(found, asked.acceptedEveryMs, page);
    expect(text).toContain('Proposed: --session-timeout 4s');
    expect(text).toContain('rarer than one in 40 s');
    expect(choicesText(found, page)).toMatch(/^> +4 s +2.67 s/m);
  });

  it('takes the longest pause of the workers and the restarts of servers into account', () => {
    expect(calibration(measured(120), null, { ...asked, workerPauseMs: 3_000 }).proposal?.timeoutMs).toBe(8_000);
    const injected = { pauses: [], leaderRestartsMs: [1_000, 4_000], followerRestartsMs: [200] };
    const found = calibration(measured(120), injected, asked);
    expect(found.proposal?.timeoutMs).toBe(12_000);
    expect(found.choices[0]?.tooShortFor).toEqual(["a restart of the ensemble's leader"]);
  });

  it('proposes nothing after too short a time, or when nothing is good enough, and says so', () => {
    const short = calibration(measured(5), null, asked);
    expect(short).toMatchObject({ proposal: null, enough: false });
    expect(proposalText(short, asked.acceptedEveryMs, page)).toContain('too little was measured');
    const bad = calibration(measured(120, 30_000), null, asked);
    expect(bad.proposal).toBeNull();
    expect(proposalText(bad, asked.acceptedEveryMs, page)).toContain('the longest silence that was measured (30 s)');
  });

  it('draws what was measured', () => {
    expect(distributions(measured(1)).map(({ values }) => values.length)).toEqual([20, 19, 1, 0, 0]);
  });
});
