import type { Pause } from '../election/record.js';
import type { CandidateView, ElectionView, LeaderView } from '../election/view.js';

/** What happened in an election from one view to the next. */
export type Change =
  | { readonly change: 'present'; readonly election: string; readonly view: ElectionView }
  | { readonly change: 'elected'; readonly election: string; readonly leader: LeaderView }
  | { readonly change: 'vacant'; readonly election: string; readonly leader: LeaderView }
  | {
      readonly change: 'joined' | 'left';
      readonly election: string;
      readonly candidate: CandidateView;
      readonly candidates: number;
    }
  | { readonly change: 'paused'; readonly election: string; readonly pause: Pause }
  | { readonly change: 'resumed'; readonly election: string }
  /** The leader has changed what it says about itself. */
  | { readonly change: 'updated'; readonly election: string; readonly leader: LeaderView }
  /** Its record can't be read: nobody claims over it. */
  | { readonly change: 'unreadable'; readonly election: string; readonly message: string }
  /** The ensemble is out of reach: what was told last may be old. */
  | { readonly change: 'out_of_touch'; readonly election: string };

/** In the order in which they make sense: who left, who joined, whether it is paused, who leads. */
export function changes(before: ElectionView | null, after: ElectionView): Change[] {
  const { election } = after;
  if (before === null) return [{ change: 'present', election, view: after }];
  const found: Change[] = [];
  const candidates = after.candidates.length;
  for (const candidate of missingFrom(after, before)) found.push({ change: 'left', election, candidate, candidates });
  for (const candidate of missingFrom(before, after)) found.push({ change: 'joined', election, candidate, candidates });
  if (after.paused !== null && !same(before.paused, after.paused)) {
    found.push({ change: 'paused', election, pause: after.paused });
  }
  if (before.paused !== null && after.paused === null) found.push({ change: 'resumed', election });
  const [old, now] = [before.leader, after.leader];
  if (now !== null && (old?.node !== now.node || old.token !== now.token)) {
    found.push({ change: 'elected', election, leader: now });
  } else if (now !== null && !same(old?.metadata, now.metadata)) {
    found.push({ change: 'updated', election, leader: now });
  }
  if (now === null && old !== null) found.push({ change: 'vacant', election, leader: old });
  return found;
}

/** The candidates of `view` that don't stand in `other`. */
function missingFrom(other: ElectionView, view: ElectionView): CandidateView[] {
  const nodes = new Set(other.candidates.map(({ node }) => node));
  return view.candidates.filter(({ node }) => !nodes.has(node));
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
