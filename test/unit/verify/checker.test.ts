import { describe, expect, it } from 'vitest';
import { check } from '../../../src/verify/checker.js';
import type { ActSpan, Happening, History } from '../../../src/verify/history.js';
import { report } from '../../../src/verify/report.js';
import { timeline } from '../../../src/verify/timeline.js';
import type { ViolationKind } from '../../../src/verify/violation.js';

const span = (who: string, term: number, token: string, first: number, last: number): ActSpan => ({
  who,
  term,
  token,
  first,
  last,
});

const fault = (number: number, phase: 'begin' | 'end', at: number, more: object = {}): Happening =>
  ({ type: 'fault', phase, number, at, fault: 'kill', on: ['a'], stalls: false, ...more }) as Happening;

/** Two terms, a kill between them, everything in order. */
function good(): History {
  return {
    version: 1,
    seed: 1,
    settings: { sessionTimeoutMs: 2_000, tickTimeMs: 200, leaseMs: 1_333, slackMs: 500, quorumKnown: true },
    beginAt: 1_000,
    calmAt: 20_000,
    endAt: 30_000,
    happenings: [
      { type: 'process', who: 'a', what: 'ready', at: 1_100 },
      { type: 'process', who: 'b', what: 'ready', at: 1_200 },
      { type: 'term', who: 'a', what: 'elected', term: 1, token: '10', at: 1_300 },
      fault(1, 'begin', 10_000),
      { type: 'process', who: 'a', what: 'ended', at: 10_001 },
      fault(1, 'end', 10_002),
      { type: 'term', who: 'b', what: 'elected', term: 2, token: '20', at: 12_000 },
    ],
    acts: [span('a', 1, '10', 1_400, 10_000), span('b', 2, '20', 12_000, 30_000)],
    writes: [
      { order: 1, key: 'a-0', who: 'a', token: '10' },
      { order: 2, key: 'b-0', who: 'b', token: '20' },
    ],
    acknowledged: ['a-0', 'b-0'],
    batches: [{ key: 'batch-1', times: 1 }],
    counters: [
      { who: 'b', acquired: { metric: 1, told: 1 }, lost: { metric: 1, told: 1 }, refused: { metric: 0, told: 0 } },
    ],
    aftermath: { alive: ['b'], candidates: ['b'], sessionNodes: 1, watches: 2, watchesEach: 5, left: [] },
  };
}

const forged: readonly [ViolationKind, string, (history: History) => History][] = [
  [
    'token_reused',
    'one token, two holders',
    (h) => ({ ...h, happenings: [...h.happenings, { ...(h.happenings[6] as Happening), who: 'c' } as Happening] }),
  ],
  ['token_reused', 'one token, two terms', (h) => ({ ...h, acts: [...h.acts, span('b', 3, '20', 30_000, 30_000)] })],
  [
    'token_not_increasing',
    'a later term with a lower token',
    (h) => ({ ...h, acts: [...h.acts, span('c', 3, '15', 30_000, 30_000)] }),
  ],
  [
    'token_not_increasing',
    'one term, two tokens',
    (h) => ({ ...h, acts: [...h.acts, span('c', 2, '21', 30_000, 30_000)] }),
  ],
  [
    'leases_overlap',
    'the old leader acts on for a moment',
    (h) => ({ ...h, acts: [span('a', 1, '10', 1_400, 12_000.5), h.acts[1] as ActSpan] }),
  ],
  [
    'leases_overlap',
    'the one before the last acts again',
    (h) => ({
      ...h,
      acts: [span('a', 1, '10', 1_400, 29_000), ...h.acts.slice(1), span('c', 3, '30', 30_000, 30_000)],
    }),
  ],
  [
    'stale_write_accepted',
    'a lower token after a higher one',
    (h) => ({ ...h, writes: [...h.writes, { order: 3, key: 'a-1', who: 'a', token: '10' }] }),
  ],
  [
    'acted_after_loss',
    'while nobody else leads',
    (h) => ({
      ...h,
      happenings: [...h.happenings, { type: 'term', who: 'b', what: 'lost', term: 2, token: '20', at: 29_999 }],
    }),
  ],
  [
    'write_without_claim',
    'a token out of nowhere',
    (h) => ({ ...h, writes: [...h.writes, { order: 3, key: 'b-1', who: 'b', token: '21' }] }),
  ],
  [
    'write_without_claim',
    'a token of somebody else',
    (h) => ({ ...h, writes: [...h.writes, { order: 3, key: 'c-0', who: 'c', token: '20' }] }),
  ],
  [
    'refused_without_cause',
    'the newest leader is turned away',
    (h) => ({ ...h, happenings: [...h.happenings, { type: 'refused', who: 'b', token: '20', code: '', at: 13_000 }] }),
  ],
  [
    'refused_without_cause',
    'a leader is turned away before there is another',
    (h) => ({ ...h, happenings: [...h.happenings, { type: 'refused', who: 'a', token: '10', code: '', at: 9_000 }] }),
  ],
  ['write_lost', 'a confirmed write is gone', (h) => ({ ...h, acknowledged: ['a-0', 'a-1', 'b-0'] })],
  ['batch_not_once', 'twice', (h) => ({ ...h, batches: [{ key: 'batch-1', times: 2 }] })],
  ['batch_not_once', 'never', (h) => ({ ...h, batches: [...h.batches, { key: 'batch-2', times: 0 }] })],
  [
    'gap_too_long',
    'nobody takes over in time',
    (h) => ({ ...h, acts: [h.acts[0] as ActSpan, span('b', 2, '20', 15_000, 30_000)] }),
  ],
  ['gap_too_long', 'nobody begins', (h) => ({ ...h, acts: [span('a', 1, '10', 9_000, 10_000), h.acts[1] as ActSpan] })],
  [
    'gap_unexplained',
    'nothing had happened',
    (h) => ({ ...h, happenings: h.happenings.filter(({ type, at }) => type === 'process' && at < 5_000) }),
  ],
  [
    'no_leader_in_the_end',
    'the last leader stops',
    (h) => ({ ...h, acts: [h.acts[0] as ActSpan, span('b', 2, '20', 12_000, 25_000)] }),
  ],
  ['ghost_candidate', 'a dead one stands', (h) => ({ ...h, aftermath: { ...h.aftermath, candidates: ['b', 'a'] } })],
  ['ghost_candidate', 'one stands twice', (h) => ({ ...h, aftermath: { ...h.aftermath, candidates: ['b', 'b'] } })],
  ['missing_candidate', 'a live one is missing', (h) => ({ ...h, aftermath: { ...h.aftermath, candidates: [] } })],
  ['watches_leaked', 'too many watches', (h) => ({ ...h, aftermath: { ...h.aftermath, watches: 6 } })],
  ['sessions_leaked', 'an old session lives', (h) => ({ ...h, aftermath: { ...h.aftermath, sessionNodes: 2 } })],
  ['left_behind', 'a process is left', (h) => ({ ...h, aftermath: { ...h.aftermath, left: ['process 7'] } })],
  [
    'metrics_disagree',
    'a refusal was not counted',
    (h) => ({ ...h, counters: h.counters.map((each) => ({ ...each, refused: { metric: 0, told: 1 } })) }),
  ],
  ['nothing_to_judge', 'nothing was written', (h) => ({ ...h, writes: [] })],
];

describe('the checker', () => {
  it('finds nothing in a history that is in order', () => {
    expect(check(good())).toEqual([]);
  });

  it.each(forged)('finds %s: %s', (kind, _how, forge) => {
    const kinds = check(forge(good())).map((each) => each.kind);
    expect(kinds).toContain(kind);
  });

  it('finds nothing in a stale writer that is refused, nor in an end that is told as it comes', () => {
    const more: Happening[] = [
      { type: 'term', who: 'a', what: 'lost', term: 1, token: '10', at: 10_000 },
      { type: 'refused', who: 'a', token: '10', code: '', at: 12_100 },
    ];
    expect(check({ ...good(), happenings: [...good().happenings, ...more] })).toEqual([]);
  });

  it('excuses a long gap while there is no quorum, or nobody well, and not by a moment more', () => {
    const late = { ...good(), acts: [span('a', 1, '10', 1_400, 10_000), span('b', 2, '20', 17_000, 30_000)] };
    expect(check(late).map(({ kind }) => kind)).toContain('gap_too_long');
    const without = (from: number, to: number): History => ({
      ...late,
      happenings: [...late.happenings, { type: 'quorum', ok: false, at: from }, { type: 'quorum', ok: true, at: to }],
    });
    expect(check(without(11_000, 15_000))).toEqual([]);
    expect(check(without(11_000, 12_000)).map(({ kind }) => kind)).toContain('gap_too_long');
    const frozen = fault(2, 'begin', 10_500, { on: ['b'] });
    const thawed = fault(2, 'end', 15_000, { on: ['b'] });
    expect(check({ ...late, happenings: [...late.happenings, frozen, thawed] })).toEqual([]);
    const other = [fault(2, 'begin', 10_500, { on: ['z'] }), fault(2, 'end', 10_600, { on: ['z'] })];
    expect(check({ ...late, happenings: [...late.happenings, ...other] }).map(({ kind }) => kind)).toContain(
      'gap_too_long',
    );
  });

  it('can be read and seen: the report and the picture name each violation', () => {
    const history = { ...good(), acts: [span('a', 1, '10', 1_400, 12_000.5), good().acts[1] as ActSpan] };
    const violations = check(history);
    expect(report(history, violations)).toMatch(/VIOLATION leases_overlap at 11\.000 s: a in term 1 acted for 0\.5 ms/);
    expect(report(history, violations)).not.toContain('quorum');
    const blind = { ...history, settings: { ...history.settings, quorumKnown: false } };
    expect(report(blind, violations)).toContain('not judged against the quorum');
    const picture = timeline(history, violations);
    expect(picture).toContain('leases_overlap: a in term 1');
    expect(picture.match(/<rect/g)?.length).toBeGreaterThan(3);
  });
});
