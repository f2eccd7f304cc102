import { describe, expect, it } from 'vitest';
import { decodeCandidate } from '../../src/election/candidate.js';
import { Contest } from '../../src/election/contest.js';
import { electionPaths } from '../../src/election/names.js';

describe('what a candidate says of itself', () => {
  it('is what it said when the election was made, whatever becomes of the object that it gave', () => {
    const metadata = { zone: 'a', load: [1] };
    const contest = new Contest('e', electionPaths('/tenure', 'e'), '/tenure/sessions', {
      id: 'me',
      metadata,
      whereabouts: { hostname: 'h', pid: 1 },
      joinedAt: 0,
      nodePrefix: 'lock-',
      takeoverDelayMs: 0,
      foreign: false,
    });
    const { data } = contest;
    metadata.zone = 'x'.repeat(10_000);
    metadata.load.push(2);
    // A touch at the claim writes it again.
    expect(contest.data).toEqual(data);
    expect(decodeCandidate(contest.data)?.metadata).toEqual({ zone: 'a', load: [1] });
    expect(contest.metadata).toEqual({ zone: 'a', load: [1] });
  });
});
