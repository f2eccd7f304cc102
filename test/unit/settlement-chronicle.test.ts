import { describe, expect, it } from 'vitest';
import { Chronicle } from '../../examples/settlement/chronicle.js';
import type { News } from '../../examples/settlement/messages.js';

function told(...reports: [worker: string, at: number, news: News][]): Chronicle {
  const chronicle = new Chronicle();
  for (const [worker, at, news] of reports) chronicle.add(worker, { ...news, at });
  return chronicle;
}

const elected = (term: number): News => ({ type: 'elected', term, token: `${term}00`, cause: 'vanished' });

describe('the chronicle of the settlement demo', () => {
  it('knows who leads, and who came after', () => {
    const chronicle = told(['a', 0, elected(1)], ['a', 40, { type: 'lost', term: 1, reason: 'lease_expired' }]);
    expect(chronicle.leading).toBeUndefined();
    chronicle.add('b', { ...elected(3), at: 50 });
    expect(chronicle.leading?.worker).toBe('b');
    expect(chronicle.successor(1)?.term).toBe(3);
    expect(chronicle.successor(3)).toBeUndefined();
  });

  it('keeps the longest lease', () => {
    const lease = (until: number): News => ({ type: 'lease', term: 1, until });
    expect(told(['a', 0, elected(1)], ['a', 1, lease(90)], ['a', 2, lease(80)]).term(1)?.leaseUntil).toBe(90);
  });

  it('ends a term with its lease, however late its frozen worker says so', () => {
    const chronicle = told(['a', 0, elected(1)], ['a', 1, { type: 'lease', term: 1, until: 90 }]);
    chronicle.add('a', { type: 'lost', term: 1, reason: 'lease_expired', at: 5_000 });
    expect(chronicle.term(1)).toMatchObject({ endedAt: 90, end: 'lease_expired', stoppedAt: 5_000 });
  });

  it('takes the first moment and the first reason that ended a term', () => {
    const chronicle = told(['a', 0, elected(1)], ['a', 1, { type: 'lease', term: 1, until: 90 }]);
    chronicle.incident(1, 20, 'frozen');
    chronicle.add('a', { type: 'lost', term: 1, reason: 'lease_expired', at: 5_000 });
    expect(chronicle.term(1)).toMatchObject({ endedAt: 20, end: 'frozen' });
  });

  it('has a worker that was killed act no more; one that was frozen may', () => {
    for (const [how, stoppedAt] of [
      ['killed', 20],
      ['frozen', Number.POSITIVE_INFINITY],
    ] as const) {
      const chronicle = told(['a', 0, elected(1)], ['a', 1, { type: 'lease', term: 1, until: 90 }]);
      chronicle.incident(1, 20, how);
      expect(chronicle.term(1)).toMatchObject({ endedAt: 20, end: how, stoppedAt });
    }
  });

  it('counts a term that was resigned until its worker had stopped', () => {
    const chronicle = told(['a', 0, elected(1)], ['a', 1, { type: 'lease', term: 1, until: 90 }]);
    chronicle.add('a', { type: 'stopped', term: 1, at: 30 });
    chronicle.add('a', { type: 'lost', term: 1, reason: 'resigned', at: 31 });
    expect(chronicle.term(1)).toMatchObject({ endedAt: 30, end: 'resigned', stoppedAt: 30 });
  });

  it('counts batches', () => {
    const chronicle = told(
      ['a', 5, { type: 'settled', term: 1, first: 11, last: 13 }],
      ['b', 6, { type: 'settled', term: 2, first: 14, last: 14 }],
    );
    expect(chronicle.batches).toBe(4);
    expect(chronicle.lastSettled).toBe(14);
    expect(chronicle.hasSettled(1, 12)).toBe(true);
    expect(chronicle.hasSettled(2, 15)).toBe(false);
  });

  it('keeps tokens exact', () => {
    const token = '9223372036854775807';
    const chronicle = told(['a', 0, { type: 'elected', term: 1, token, cause: 'first' }]);
    expect(chronicle.term(1)?.token).toBe(9223372036854775807n);
  });
});
