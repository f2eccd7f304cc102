import { describe, expect, it } from 'vitest';
import {
  type ControlChange,
  decodeHistory,
  type EndedTerm,
  encodeHistory,
  entriesOf,
  HISTORY_LENGTH,
  withEntries,
} from '../../src/election/history.js';
import { EMPTY_RECORD } from '../../src/election/record.js';
import { MAX_TOKEN } from '../../src/token.js';

const date = (seconds: number) => new Date(seconds * 1_000).toISOString();

function term(number: number, fields: Partial<EndedTerm> = {}): EndedTerm {
  return {
    kind: 'term',
    term: number,
    token: BigInt(number) * 100n,
    leaderId: `w${number}`,
    from: date(number * 10),
    to: date(number * 10 + 9),
    how: 'resigned',
    leaderlessMs: 3,
    ...fields,
  };
}

function control(at: number, fields: Partial<ControlChange> = {}): ControlChange {
  return { kind: 'control', change: 'pause', at: date(at), by: 'ada', reason: 'why', ...fields };
}

describe('withEntries', () => {
  it('keeps the last fifty', () => {
    const all = Array.from({ length: 70 }, (_, i) => term(i + 1));
    const kept = withEntries(all.slice(0, 60), all.slice(60));
    expect(kept).toEqual(all.slice(-HISTORY_LENGTH));
  });

  it('takes each entry once, whoever writes it, and completes what is known of a term', () => {
    const partial = term(2, { from: null, to: null, leaderlessMs: null });
    expect(withEntries([term(1), partial], [term(1), term(2), control(5), control(5)])).toEqual([
      control(5),
      term(1),
      term(2),
    ]);
    expect(withEntries([term(2)], [partial])).toEqual([term(2)]);
    expect(withEntries([control(99), partial], [term(2)])).toEqual([term(2), control(99)]);
  });

  it('orders by date, but terms by their numbers, whatever the clocks of their leaders say', () => {
    expect(withEntries([term(1), term(3)], [control(25), term(2), control(45)])).toEqual([
      term(1),
      control(25),
      term(2),
      term(3),
      control(45),
    ]);
    const fast = term(1, { to: date(5_000) });
    expect(withEntries([fast], [term(2), term(3)])).toEqual([fast, term(2), term(3)]);
    const undated = term(2, { from: null, to: null });
    expect(withEntries([term(1), term(3)], [undated])).toEqual([term(1), undated, term(3)]);
  });
});

describe('entriesOf', () => {
  it('finds in a record the terms that are over and the requests that stand', () => {
    const latest = {
      term: 3,
      token: 300n,
      node: 'n',
      leaderId: 'w3',
      session: 's',
      leaseMs: 100,
      metadata: {},
      electedAt: date(30),
      ended: null,
    };
    const previous = { term: 2, token: 200n, leaderId: 'w2', end: 'died' } as const;
    const pause = { by: 'ada', at: date(35), reason: 'why' };
    expect(entriesOf({ ...EMPTY_RECORD, latest, previous, pause })).toEqual([
      term(2, { from: null, to: null, how: 'died', leaderlessMs: null }),
      control(35),
    ]);
    const ended = { ...latest, ended: { at: date(39), how: 'evicted' } } as const;
    expect(entriesOf({ ...EMPTY_RECORD, latest: ended })).toEqual([term(3, { how: 'evicted', leaderlessMs: null })]);
    expect(entriesOf(EMPTY_RECORD)).toEqual([]);
  });
});

describe('the bytes', () => {
  it('are read as they were written, tokens exactly', () => {
    const entries = [term(1, { token: MAX_TOKEN, from: null }), control(20, { change: 'raise_floor', to: '77' })];
    const data = encodeHistory(entries);
    expect(decodeHistory(data)).toEqual(entries);
    expect(new TextDecoder().decode(data)).toContain(`"token":"${MAX_TOKEN}"`);
  });

  it('stay below what a znode can hold, whatever people write', () => {
    const wordy = Array.from({ length: 70 }, (_, i) =>
      i % 2 === 0 ? control(i, { by: '"'.repeat(200), reason: '決'.repeat(500), to: 'x'.repeat(200) }) : term(i),
    );
    expect(encodeHistory(withEntries([], wordy)).length).toBeLessThan(200_000);
  });

  it('that are damaged are passed over; those of a newer release are left alone', () => {
    const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
    expect(decodeHistory(new Uint8Array())).toEqual([]);
    expect(decodeHistory(bytes({ v: 1 }))).toEqual([]);
    const odd = [7, null, {}, { kind: 'term', term: 1, token: 'x' }, { kind: 'term', term: 'x', token: '5' }];
    const sound = JSON.parse(new TextDecoder().decode(encodeHistory([term(4)]))).entries;
    expect(decodeHistory(bytes({ v: 1, entries: [...odd, ...sound] }))).toEqual([term(4)]);
    expect(decodeHistory(bytes({ v: 2, entries: [] }))).toBeNull();
  });
});
