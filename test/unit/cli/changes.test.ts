import { describe, expect, it } from 'vitest';
import { changes } from '../../../src/cli/changes.js';
import { changeLine } from '../../../src/cli/changes-text.js';
import { everyElection, oneElection } from '../../../src/cli/status-text.js';
import { styleFor } from '../../../src/cli/style.js';
import type { CandidateView, ElectionView, LeaderView } from '../../../src/election/view.js';

const style = styleFor(false);

function candidate(id: string): CandidateView {
  const data = { id, host: 'h', pid: 1, metadata: {}, joinedAt: '2026-11-30T00:00:00.000Z' };
  return { node: `node-${id}`, id, data } as CandidateView;
}

function leader(id: string, term: number, metadata = {}): LeaderView {
  return {
    node: `node-${id}`,
    id,
    token: BigInt(term + 100),
    term,
    metadata,
    electedAt: '2026-11-30T00:00:00.000Z',
    foreign: false,
  };
}

function view(ids: string[], more: Partial<ElectionView> = {}): ElectionView {
  return {
    election: 'pay',
    state: 'vacant',
    leader: null,
    term: 0,
    token: null,
    candidates: ids.map(candidate),
    paused: null,
    version: 1,
    ageMs: 0,
    ...more,
  } as ElectionView;
}

const led = (ids: string[], by: LeaderView) =>
  view(ids, { state: 'led', leader: by, term: by.term ?? 0, token: by.token });
const pause = { by: 'ada', at: '2026-11-30T00:00:00.000Z', reason: 'a test' };

/** What is told, a line each. */
const told = (before: ElectionView | null, after: ElectionView) =>
  changes(before, after).map((each) => changeLine(each, style));

describe('changes between two views', () => {
  it('begin with how it stands', () => {
    expect(told(null, led(['a', 'b'], leader('a', 1)))).toEqual(['pay: a leads, term 1, token 101 (2 in the queue)']);
    expect(told(null, view([]))).toEqual(['pay: nobody leads (0 in the queue)']);
    expect(told(null, view(['a'], { state: 'paused', paused: pause }))).toEqual([
      'pay: paused by ada (1 in the queue)',
    ]);
  });

  it('tell a hand-over in the order in which it happened', () => {
    const before = led(['a', 'b'], leader('a', 1));
    expect(told(before, led(['b', 'c'], leader('b', 2)))).toEqual([
      'pay: a left the queue (2 in it)',
      'pay: c joined the queue (2 in it)',
      'pay: b leads, term 2, token 102',
    ]);
    expect(told(before, view(['b']))).toEqual([
      'pay: a left the queue (1 in it)',
      'pay: nobody leads; the last leader was a',
    ]);
  });

  it('tell of a new term of the same leader, of what it says of itself, and of pauses', () => {
    const before = led(['a'], leader('a', 1));
    expect(told(before, led(['a'], leader('a', 2)))).toEqual(['pay: a leads, term 2, token 102']);
    expect(told(before, led(['a'], leader('a', 1, { zone: 'b' })))).toEqual([
      'pay: a now says {"zone":"b"} about itself',
    ]);
    expect(told(before, { ...before, paused: pause })).toEqual(['pay: paused by ada: a test']);
    expect(told({ ...before, paused: pause }, before)).toEqual(['pay: resumed']);
    expect(told(before, before)).toEqual([]);
  });
});

describe('status', () => {
  it('of all is a table, in which no text of a stranger does harm', () => {
    const evil = led(['a'], { ...leader('a', 1), id: 'a\u001b[2J' });
    const lines = everyElection([evil, view([])], { style }).split('\n');
    expect(lines[0]).toMatch(/^ELECTION +STATE +LEADER +TERM +TOKEN +CANDIDATES$/);
    expect(lines[1]).toMatch(/^pay +led +a�\[2J +1 +101 +1$/);
    expect(lines[2]).toMatch(/^pay +vacant +- +0 +- +0$/);
  });

  it('of one shows the queue, the pause, and what the last term was', () => {
    const text = oneElection(view(['a', 'b'], { state: 'paused', paused: pause, term: 7, token: 107n }), { style });
    expect(text).toMatch(/paused +by ada at 2026-11-30T00:00:00.000Z: a test/);
    expect(text).toMatch(/term +7 \(the last one\)/);
    expect(text).toMatch(/^1 +a +h +1 /m);
    expect(oneElection(led(['a', 'b'], leader('a', 1)), { style })).toMatch(/^\* +a /m);
    expect(oneElection(view([]), { style })).toMatch(
      /nobody stands in the queue, and nobody has ever led: check the name/,
    );
    expect(oneElection(view([], { term: 7 }), { style })).toMatch(/nobody stands in the queue$/);
  });

  it('of a foreign leader has its token and no term', () => {
    const foreign = { ...leader('curator', 0), term: null, electedAt: null, foreign: true };
    const text = oneElection(view(['curator'], { state: 'led', leader: foreign, term: 3 }), { style });
    expect(text).toContain('of another library');
    expect(text).not.toMatch(/^term/m);
  });
});
