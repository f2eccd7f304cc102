import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DrainReason,
  type Holding,
  type HoldingEvent,
  holdingState,
  holdingStep,
  mayAct,
  open,
  remainingMs,
  type SuspectReason,
} from '../../src/election/holding.js';
import type { Judgement } from '../../src/election/judgement.js';

const at = (ms: number, boot = ms) => ({ monotonic: ms, boot });
const LEASE = { lengthMs: 1000, from: at(0) };

/** Runs a story of [moment, event] pairs. */
function run(...story: readonly [number, HoldingEvent][]): { holding: Holding; effects: string[] } {
  let [holding, first] = open(7n, LEASE, at(0));
  const effects = first.map((effect) => effect.do as string);
  for (const [ms, event] of story) {
    const [next, caused] = holdingStep(holding, event, at(ms));
    holding = next;
    effects.push(...caused.map((effect) => effect.do));
  }
  return { holding, effects };
}

describe('a term', () => {
  it('recovers, leads, and is renewed from the send time', () => {
    const { holding } = run([10, { type: 'recovered' }], [400, { type: 'confirmed', sentAt: at(300) }]);
    expect(holdingState(holding)).toBe('leading');
    expect(remainingMs(holding, at(400))).toBe(900);
  });

  it.each<SuspectReason>(['connection_lost', 'process_paused', 'suspended', 'clock_jumped'])(
    'is suspect on %s, and asks for a renewal',
    (reason) => {
      const { holding, effects } = run([10, { type: 'recovered' }], [100, { type: 'doubt', reason }]);
      expect(holdingState(holding)).toBe('suspect');
      expect(mayAct(holding, at(100))).toBe(false);
      expect(effects).toContain('renew');
    },
  );

  it('leaves suspicion by a renewal sent since, and by no earlier one', () => {
    const story: [number, HoldingEvent][] = [
      [10, { type: 'recovered' }],
      [300, { type: 'doubt', reason: 'process_paused' }],
      [310, { type: 'confirmed', sentAt: at(299) }],
    ];
    expect(holdingState(run(...story).holding)).toBe('suspect');
    const after = run(...story, [400, { type: 'confirmed', sentAt: at(300) }]).holding;
    expect(holdingState(after)).toBe('leading');
    expect(mayAct(after, at(400))).toBe(true);
  });

  it('a second disturbance needs a newer renewal', () => {
    const { holding } = run(
      [300, { type: 'doubt', reason: 'connection_lost' }],
      [500, { type: 'doubt', reason: 'clock_jumped' }],
      [510, { type: 'confirmed', sentAt: at(400) }],
    );
    expect(holdingState(holding)).toBe('suspect');
  });

  it('is suspect when a renewal is overdue, and lost when the lease is over, each by its alarm', () => {
    expect(holdingState(run([499, { type: 'alarm' }]).holding)).toBe('recovering');
    expect(holdingState(run([500, { type: 'alarm' }]).holding)).toBe('suspect');
    expect(run([1000, { type: 'alarm' }]).holding).toEqual({ name: 'lost', reason: 'lease_expired' });
  });

  it('asks to be woken at the next moment that matters', () => {
    const [, effects] = open(7n, LEASE, at(100));
    expect(effects).toEqual([{ do: 'alarm', inMs: 400 }]);
    const [, later] = holdingStep(open(7n, LEASE, at(0))[0], { type: 'alarm' }, at(600));
    expect(later).toContainEqual({ do: 'alarm', inMs: 400 });
  });

  it('can’t be brought back by a renewal whose reply comes after the lease', () => {
    const { holding } = run(
      [1000, { type: 'confirmed', sentAt: at(900) }],
      [1001, { type: 'confirmed', sentAt: at(1000) }],
    );
    expect(holding).toEqual({ name: 'lost', reason: 'lease_expired' });
  });

  it('ends while the machine is suspended, though the monotonic clock stands still', () => {
    const [holding] = holdingStep(open(7n, LEASE, at(0))[0], { type: 'recovered' }, at(1, 1001));
    expect(holding).toEqual({ name: 'lost', reason: 'lease_expired' });
  });

  it.each(['session_expired', 'session_node_gone', 'node_gone', 'closed'] as const)(
    'is lost at once on %s',
    (reason) => {
      const { holding, effects } = run([10, { type: 'recovered' }], [20, { type: 'gone', reason }]);
      expect(holding).toEqual({ name: 'lost', reason });
      expect(effects.slice(-2)).toEqual(['abort', 'release']);
    },
  );

  it('is lost when the record names another term or evicts it, drained when an operator asks for the leadership', () => {
    const told = (says: Judgement) => run([10, { type: 'record', says }]).holding;
    expect(told('ours').name).toBe('recovering');
    expect(told('superseded')).toEqual({ name: 'lost', reason: 'superseded' });
    expect(told('evicted')).toEqual({ name: 'lost', reason: 'superseded' });
    expect(told('paused')).toMatchObject({ name: 'draining', why: 'paused' });
    expect(told('transferred')).toMatchObject({ name: 'draining', why: 'transferred' });
    expect(told('below_floor')).toMatchObject({ name: 'draining', why: 'superseded' });
  });

  it('while it drains the signal is aborted, the lease is renewed and may be acted under, until it is released', () => {
    const { holding, effects } = run(
      [10, { type: 'recovered' }],
      [100, { type: 'drain', why: 'resigned' }],
      [900, { type: 'confirmed', sentAt: at(850) }],
    );
    expect(effects.at(-2)).toBe('abort');
    expect(holdingState(holding)).toBe('draining');
    expect(mayAct(holding, at(1500))).toBe(true);
    const [released, caused] = holdingStep(holding, { type: 'release', settled: true }, at(1500));
    expect(mayAct(released, at(1500))).toBe(false);
    expect(caused).toEqual([{ do: 'release', announce: 'resigned' }]);
  });

  it.each<[DrainReason, string]>([
    ['resigned', 'resigned'],
    ['paused', 'paused'],
    ['transferred', 'transferred'],
    ['held', 'resigned'],
    ['closed', 'resigned'],
  ])('drained because %s is announced as %s; not at all where the worker has not settled', (why, announced) => {
    const [draining] = holdingStep(open(7n, LEASE, at(0))[0], { type: 'drain', why }, at(1));
    expect(holdingStep(draining, { type: 'release', settled: true }, at(2))[1]).toEqual([
      { do: 'release', announce: announced },
    ]);
    expect(holdingStep(draining, { type: 'release', settled: false }, at(2))[1]).toEqual([
      { do: 'release', announce: null },
    ]);
  });
});

const moment = fc.integer({ min: 0, max: 400 });
const event = fc.oneof<fc.Arbitrary<HoldingEvent>[]>(
  fc.record({ type: fc.constant('confirmed' as const), sentAt: fc.integer({ min: 0, max: 3000 }).map((ms) => at(ms)) }),
  fc.record({
    type: fc.constant('doubt' as const),
    reason: fc.constantFrom<SuspectReason>('connection_lost', 'process_paused'),
  }),
  fc.constant({ type: 'connected' }),
  fc.constant({ type: 'alarm' }),
  fc.constant({ type: 'recovered' }),
  fc.constant({ type: 'drain', why: 'resigned' }),
  fc.record({ type: fc.constant('release' as const), settled: fc.boolean() }),
  fc.record({
    type: fc.constant('record' as const),
    says: fc.constantFrom<Judgement>('ours', 'superseded', 'evicted', 'paused', 'transferred', 'below_floor'),
  }),
  fc.constant({ type: 'gone', reason: 'node_gone' }),
);

describe('whatever happens', () => {
  it('nobody acts past a lease of a renewal that was confirmed, in doubt, or after the end; the abort comes once, first', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(moment, event), { maxLength: 40 }), (story) => {
        let now = 0;
        let newest = 0;
        let aborted = 0;
        let released = 0;
        let [holding] = open(7n, LEASE, at(0));
        for (const [delay, what] of story) {
          now += delay;
          // A reply can't come before its request was sent.
          const happens =
            what.type === 'confirmed' ? { ...what, sentAt: at(Math.min(what.sentAt.monotonic, now)) } : what;
          const was = holding;
          const [next, effects] = holdingStep(holding, happens, at(now));
          if (was.name === 'lost') {
            expect(next).toBe(was);
            expect(effects).toEqual([]);
          } else if (happens.type === 'confirmed') newest = Math.max(newest, happens.sentAt.monotonic);
          const names = effects.map((effect) => effect.do);
          aborted += names.filter((name) => name === 'abort').length;
          released += names.filter((name) => name === 'release').length;
          if (names.includes('abort')) expect(names[0]).toBe('abort');
          holding = next;
          if (mayAct(holding, at(now))) {
            expect(now - newest).toBeLessThan(LEASE.lengthMs);
            expect(holdingState(holding)).not.toBe('suspect');
          }
          expect(mayAct(holding, at(newest + LEASE.lengthMs))).toBe(false);
        }
        expect(aborted).toBe(holding.name === 'lost' || holding.name === 'draining' ? 1 : 0);
        expect(released).toBe(holding.name === 'lost' ? 1 : 0);
      }),
      { numRuns: 2000 },
    );
  });
});
