import { describe, expect, it } from 'vitest';
import { addressee } from '../../src/election/addressee.js';
import {
  checkFloor,
  checkOrder,
  evicted,
  floorRaised,
  MAX_FLOOR,
  paused,
  resumption,
  transferring,
} from '../../src/election/control.js';
import { Holds } from '../../src/election/holds.js';
import { judge } from '../../src/election/judgement.js';
import { EMPTY_RECORD, type TermOfRecord, type TermRecord, type Transfer } from '../../src/election/record.js';
import type { CandidateView, ElectionView } from '../../src/election/view.js';

const LATEST: TermOfRecord = {
  term: 3,
  token: 500n,
  node: 'n-1',
  leaderId: 'w1',
  session: 's',
  leaseMs: 1_000,
  metadata: {},
  electedAt: '',
  ended: null,
};
const LED: TermRecord = { ...EMPTY_RECORD, latest: LATEST, floor: 7n };
const ORDER = { by: 'ada', reason: 'why' };
const TRANSFER: Transfer = { to: 'n-2', by: 'ada', at: 't', reason: 'why', deadline: 'u' };
const PAUSE = { by: 'bob', at: 't0', reason: 'a drill' };

describe('orders', () => {
  it('name who asks and why, in one line each', () => {
    expect(checkOrder('pause', { by: ' ada ', reason: ' why ' })).toEqual(ORDER);
    for (const bad of ['', '  ', 'two\nlines', 'x'.repeat(501), 7, undefined, null]) {
      expect(() => checkOrder('pause', { by: 'ada', reason: bad as string })).toThrow(/^pause: reason /);
    }
    expect(() => checkOrder('pause', { by: 'x'.repeat(201), reason: 'why' })).toThrow(/^pause: by .*200 characters/);
  });

  it('a pause takes the place of a transfer, and is asked for once', () => {
    const record = paused({ ...LED, transfer: TRANSFER }, ORDER, 't1', 'e');
    expect(record).toEqual({ ...LED, pause: { ...ORDER, at: 't1' } });
    expect(() => paused(record, ORDER, 't2', 'e')).toThrow(/"e" is paused already, since t1 by ada: why/);
    expect(resumption('e').edit(record)).toEqual(LED);
    expect(() => resumption('e').edit(LED)).toThrow(/not paused/);
  });

  it('a resume whose reply is lost lifts the pause that it saw, and leaves a later one alone', () => {
    const { edit, made } = resumption('e');
    const record = { ...LED, pause: PAUSE };
    edit(record);
    expect(made(record)).toBe(false);
    expect(made(LED)).toBe(true);
    for (const pause of [
      { ...PAUSE, at: 't1' },
      { ...PAUSE, by: 'eve' },
    ]) {
      const later = { ...LED, pause };
      expect(made(later)).toBe(true);
      expect(edit(later)).toBe(later);
    }
  });

  it('a transfer takes the place of another, but not of a pause, nor of nothing', () => {
    const other = { ...TRANSFER, to: 'n-3' };
    expect(transferring({ ...LED, transfer: other }, TRANSFER, 'e').transfer).toEqual(TRANSFER);
    expect(() => transferring({ ...LED, pause: PAUSE }, TRANSFER, 'e')).toThrow(/paused since t0 by bob: a drill/);
    expect(() => transferring(LED, { ...TRANSFER, to: 'n-1' }, 'e')).toThrow(/n-1 \(w1\) leads "e" already/);
    const over = { ...LED, latest: { ...LATEST, ended: { at: '', how: 'resigned' } } } as const;
    expect(transferring(over, { ...TRANSFER, to: 'n-1' }, 'e').transfer?.to).toBe('n-1');
  });

  it('an eviction ends the term of its node alone, and only one that runs', () => {
    expect(evicted(LED, 'n-1', 't').latest?.ended).toEqual({ at: 't', how: 'evicted' });
    const over = { ...LED, latest: { ...LATEST, ended: { at: '', how: 'resigned' } } } as const;
    for (const record of [over, EMPTY_RECORD]) expect(evicted(record, 'n-1', 't')).toBe(record);
    expect(evicted(LED, 'n-2', 't')).toBe(LED);
  });

  it('the floor only rises, and leaves room for transactions', () => {
    expect(floorRaised(LED, 8n, 'e').floor).toBe(8n);
    for (const to of [7n, 1n]) expect(() => floorRaised(LED, to, 'e')).toThrow(/is 7 already/);
    expect(checkFloor(MAX_FLOOR)).toBe(MAX_FLOOR);
    for (const bad of [0n, -1n, MAX_FLOOR + 1n, 5, '5', undefined])
      expect(() => checkFloor(bad)).toThrow(/^raiseFloor/);
  });
});

describe('what a record says to a leader', () => {
  it('is the gravest of what it says', () => {
    const says = (fields: Partial<TermRecord>) => judge({ ...LED, ...fields }, 500n, 'n-1');
    expect(says({})).toBe('ours');
    expect(says({ floor: 499n })).toBe('ours');
    expect(says({ floor: 500n })).toBe('below_floor');
    expect(says({ floor: 500n, transfer: TRANSFER })).toBe('transferred');
    expect(says({ transfer: { ...TRANSFER, to: 'n-1' } })).toBe('ours');
    expect(says({ transfer: TRANSFER, pause: PAUSE })).toBe('paused');
    expect(says({ pause: PAUSE, latest: { ...LATEST, ended: { at: '', how: 'evicted' } } })).toBe('evicted');
    expect(says({ latest: { ...LATEST, ended: { at: '', how: 'resigned' } } })).toBe('superseded');
    expect(says({ latest: { ...LATEST, token: 501n } })).toBe('superseded');
    expect(says({ latest: null })).toBe('superseded');
  });
});

describe('a candidate that is named', () => {
  const ours = (node: string, id: string): CandidateView => {
    return { node, id, data: { id, host: '', pid: 0, metadata: {}, joinedAt: '' } };
  };
  const view = (...candidates: CandidateView[]): ElectionView =>
    ({ election: 'e', candidates, leader: { node: candidates[0]?.node } }) as unknown as ElectionView;

  it('is found by its node first, then by its id', () => {
    const queue = view(ours('n-1', 'n-2'), ours('n-2', 'b'), ours('n-3', 'c'));
    expect(addressee(queue, 'n-2')).toMatchObject({ node: 'n-2', place: 1, leads: false });
    expect(addressee(queue, 'c')).toMatchObject({ node: 'n-3', place: 2 });
    expect(addressee(queue, 'n-1')).toMatchObject({ place: 0, leads: true, foreignAhead: null });
    expect(() => addressee(queue, 'z')).toThrow(/in the queue stand n-2, b, c$/);
    expect(() => addressee(view(), 'z')).toThrow(/nobody stands/);
    expect(() => addressee(view(ours('n-1', 'x'), ours('n-2', 'x')), 'x')).toThrow(/n-1 or n-2/);
  });

  it('has the first of another library before it told', () => {
    const foreign: CandidateView = { node: 'f-2', id: '', data: null };
    expect(addressee(view(ours('n-1', 'a'), foreign, ours('n-3', 'c')), 'c').foreignAhead).toBe('f-2');
    expect(addressee(view(ours('n-1', 'a'), foreign), 'f-2').foreignAhead).toBe('f-2');
    expect(addressee(view(ours('n-1', 'a'), ours('n-2', 'b'), foreign), 'b').foreignAhead).toBeNull();
  });
});

describe('holds', () => {
  it('hold an election for as long as any of them stands', async () => {
    const holds = new Holds();
    let told = 0;
    const stop = holds.onChange(() => {
      told += 1;
    });
    const all = holds.hold(null, 'all');
    const one = holds.hold('e', 'one');
    expect([holds.reason('e'), holds.reason('f'), holds.reason(null)]).toEqual(['all', 'all', 'all']);
    const released = holds.released('e', new AbortController().signal);
    all();
    all();
    expect([holds.reason('e'), holds.reason('f'), holds.reason(null)]).toEqual(['one', null, null]);
    one();
    await released;
    expect(told).toBe(4);
    stop();
    holds.hold('e', 'again');
    expect(told).toBe(4);
    const aborted = AbortSignal.abort(new Error('stopped'));
    await expect(holds.released('e', aborted)).rejects.toThrow('stopped');
  });
});
