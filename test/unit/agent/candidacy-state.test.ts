import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CandidacyEvent,
  type CandidacyState,
  candidacyStep,
  endsAt,
  grantableMs,
  joiningState,
  standing,
  type TermFacts,
} from '../../../src/agent/candidacy-state.js';

const DEADLINE = 2_000;

const facts: TermFacts = {
  number: 7,
  token: 4_294_967_342n,
  previous: { term: 6, token: 42n, leaderId: 'old', end: 'vanished' },
  state: 'leading',
  mayAct: true,
  remainingMs: 6_000,
  reason: null,
};

function moved(state: CandidacyState, events: readonly (readonly [number, CandidacyEvent])[]): CandidacyState {
  return events.reduce((before, [now, event]) => candidacyStep(before, event, now), state);
}

const inTerm = moved(joiningState('stream', 0, 0), [
  [10, { type: 'stream_opened' }],
  [20, { type: 'term' }],
]);

describe('what a client is told', () => {
  it('is that it leads only while the term may act, its lease runs, and it is not to be given up', () => {
    const told = (changed: Partial<TermFacts>) => standing(inTerm, { ...facts, ...changed }, false, DEADLINE);
    expect(told({})).toMatchObject({ state: 'leading', leading: true, token: '4294967342', mayActMs: DEADLINE });
    expect(told({ remainingMs: 700.9 })).toMatchObject({ leading: true, mayActMs: 700 });
    expect(told({ mayAct: false })).toMatchObject({ state: 'suspect', leading: false, mayActMs: 0, term: 7 });
    expect(told({ remainingMs: 0 })).toMatchObject({ leading: false, mayActMs: 0 });
    expect(told({ state: 'draining', reason: 'paused' })).toMatchObject({
      state: 'draining',
      leading: false,
      mayActMs: 0,
    });
    expect(told({ state: 'lost', reason: 'lease_expired' })).toEqual({
      state: 'lost',
      leading: false,
      term: null,
      token: null,
      previous: null,
      position: null,
      mayActMs: 0,
      reason: 'lease_expired',
    });
  });

  it('is its place in the queue, and why it waits', () => {
    const waiting = moved(joiningState('ttl', 5_000, 0), [[1, { type: 'queued', ahead: 2 }]]);
    expect(standing(waiting, null, false, DEADLINE)).toMatchObject({ state: 'waiting', position: 2, reason: null });
    const first = moved(waiting, [
      [2, { type: 'queued', ahead: 0 }],
      [3, { type: 'paused', paused: true }],
    ]);
    expect(standing(first, null, false, DEADLINE)).toMatchObject({ state: 'waiting', position: 0, reason: 'paused' });
    expect(standing(first, null, true, DEADLINE)).toMatchObject({ state: 'held', position: null });
    const failed = moved(first, [[4, { type: 'failed', reason: 'token_regressed' }]]);
    expect(standing(failed, null, false, DEADLINE)).toMatchObject({ state: 'lost', reason: 'token_regressed' });
  });
});

describe('the end of a silent client', () => {
  it('comes when no PUT did for its time to live; GET is no sign of life', () => {
    const state = moved(joiningState('ttl', 5_000, 0), [
      [1_000, { type: 'asked', put: true }],
      [4_000, { type: 'asked', put: false }],
    ]);
    expect(endsAt(state, false, DEADLINE)).toBe(6_000);
    expect(endsAt(moved(state, [[5_000, { type: 'asked', put: true, ttlMs: 1_000 }]]), false, DEADLINE)).toBe(6_000);
  });

  it('comes when its stream was not opened, or closed and not opened again', () => {
    const fresh = joiningState('stream', 0, 0);
    expect(endsAt(fresh, false, DEADLINE)).toBe(5_000);
    const open = moved(fresh, [[100, { type: 'stream_opened' }]]);
    expect(endsAt(open, false, DEADLINE)).toBe(Number.POSITIVE_INFINITY);
    // Two streams: the first one that is closed ends nothing.
    const one = moved(open, [
      [200, { type: 'stream_opened' }],
      [300, { type: 'stream_closed' }],
    ]);
    expect(endsAt(one, false, DEADLINE)).toBe(Number.POSITIVE_INFINITY);
    expect(endsAt(moved(one, [[400, { type: 'stream_closed' }]]), false, DEADLINE)).toBe(1_400);
  });

  it('comes after five deadlines to a leader whose stream is open, but not while it drains', () => {
    expect(endsAt(inTerm, true, DEADLINE)).toBe(20 + 5 * DEADLINE);
    expect(endsAt(moved(inTerm, [[900, { type: 'asked', put: false }]]), true, DEADLINE)).toBe(900 + 5 * DEADLINE);
    expect(endsAt(inTerm, false, DEADLINE)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is not put off by asking where the stream is missing', () => {
    const lost = moved(inTerm, [
      [1_000, { type: 'granted', mayActMs: 2_000 }],
      [1_100, { type: 'stream_closed' }],
    ]);
    expect(grantableMs(lost, 1_500)).toBe(Number.POSITIVE_INFINITY);
    expect(grantableMs(lost, 2_200)).toBeCloseTo((1_000 + 2_120 - 2_200) / 1.06);
    expect(grantableMs(lost, 9_000)).toBe(0);
    const end = endsAt(lost, true, DEADLINE);
    const asks = moved(lost, [[2_200, { type: 'granted', mayActMs: Math.floor(grantableMs(lost, 2_200)) }]]);
    expect(endsAt(asks, true, DEADLINE)).toBe(end);
  });

  it('never comes before a deadline that it was given is over, whatever happened', () => {
    const event: fc.Arbitrary<CandidacyEvent> = fc.oneof(
      fc.record({
        type: fc.constant('asked' as const),
        put: fc.boolean(),
        ttlMs: fc.option(fc.integer({ min: 1_000, max: 9_000 }), { nil: undefined }),
      }),
      fc.record({ type: fc.constant('granted' as const), mayActMs: fc.integer({ min: 0, max: 2_000 }) }),
      fc.constantFrom<CandidacyEvent>(
        { type: 'stream_opened' },
        { type: 'campaigning' },
        { type: 'queued', ahead: 1 },
        { type: 'patient' },
        { type: 'term' },
        { type: 'failed', reason: 'x' },
      ),
    );
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), event), { maxLength: 30 });
    fc.assert(
      fc.property(fc.constantFrom('ttl' as const, 'stream' as const), steps, fc.boolean(), (hold, given, leads) => {
        let now = 0;
        let until = 0;
        let open = 0;
        let state = joiningState(hold, 1_000, now);
        for (const [pause, step] of given) {
          now += pause;
          state = candidacyStep(state, step, now);
          if (step.type === 'stream_opened') open += 1;
          if (step.type === 'granted') until = Math.max(until, now + step.mayActMs);
          // Some streams are closed again.
          if (open > 0 && pause % 2 === 0) {
            open -= 1;
            state = candidacyStep(state, { type: 'stream_closed' }, now);
          }
          expect(endsAt(state, leads, DEADLINE)).toBeGreaterThanOrEqual(until);
        }
      }),
    );
  });

  it('is final', () => {
    const ended = candidacyStep(inTerm, { type: 'ended', reason: 'expired' }, 50);
    for (const type of ['campaigning', 'term', 'patient', 'stream_opened'] as const) {
      expect(candidacyStep(ended, { type }, 60)).toBe(ended);
    }
    expect(standing(ended, facts, false, DEADLINE)).toMatchObject({ leading: false, state: 'lost', reason: 'expired' });
  });
});
