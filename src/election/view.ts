import type { Token } from '../token.js';
import { type CandidateData, isForeign } from './candidate.js';
import type { Pause, TermRecord } from './record.js';

/** One candidate as observers see it. */
export interface CandidateView {
  /** Its node's name: what `transfer` and `evict` name it by. */
  readonly node: string;
  /** As it calls itself; the text of its data where it is foreign. */
  readonly id: string;
  /** Null where its data isn't in Tenure's format. */
  readonly data: CandidateData | null;
}

/** Who leads. */
export interface LeaderView {
  /** Its candidate node's name. */
  readonly node: string;
  /** As it calls itself. */
  readonly id: string;
  /** Its term's fencing token; of a foreign leader the czxid of its node. */
  readonly token: Token;
  /** Null for a foreign leader: it has no term of record. */
  readonly term: number | null;
  /** What it shows of itself; empty for a foreign leader. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** ISO 8601 by the leader's wall clock; null for a foreign leader. */
  readonly electedAt: string | null;
  /** A candidate of another library, which claims no term: it leads because it is first. */
  readonly foreign: boolean;
}

/**
 * An election at one moment. It may be out of date as soon as it is read: good for showing and for
 * finding the leader, never a licence to act.
 */
export interface ElectionView {
  /** The election's name. */
  readonly election: string;
  /** `vacant`: nobody leads, for want of candidates or because the first one has not claimed yet. */
  readonly state: 'led' | 'vacant' | 'paused';
  /** Null while nobody leads. */
  readonly leader: LeaderView | null;
  /** The number of the latest term of record, whether it has ended or not; 0 before the first. */
  readonly term: number;
  /** The token of the latest term of record; null before the first. */
  readonly token: Token | null;
  /** In order: the first leads, or will. */
  readonly candidates: readonly CandidateView[];
  /** The pause that stands, or null. */
  readonly paused: Pause | null;
  /** The record's version: grows with each change of it; -1 where there is none. */
  readonly version: number;
  /** Milliseconds since it was read, by the monotonic clock: grows as you keep it. */
  readonly ageMs: number;
}

/** What a view is made of. */
export interface Snapshot {
  readonly election: string;
  readonly record: TermRecord;
  readonly version: number;
  readonly candidates: readonly CandidateView[];
  /** czxid of the first candidate's node; null where nobody owns it: such a node stands for no process, and never goes. */
  readonly firstCzxid: bigint | null;
}

/** The pure part of a view: who leads, by what the queue and the record say. */
export function leaderOf(snapshot: Snapshot): LeaderView | null {
  const first = snapshot.candidates[0];
  const { latest } = snapshot.record;
  if (first === undefined) return null;
  // A leader of record is one only while its node is first: a record outlives its leader.
  if (latest !== null && latest.node === first.node && latest.ended === null) {
    const { token, term, metadata, electedAt, leaderId } = latest;
    return { node: first.node, id: leaderId, token, term, metadata, electedAt, foreign: false };
  }
  if (!isForeign(first.node, first.data) || snapshot.firstCzxid === null) return null;
  return {
    node: first.node,
    id: first.id,
    token: snapshot.firstCzxid,
    term: null,
    metadata: {},
    electedAt: null,
    foreign: true,
  };
}

/** `age` tells the milliseconds since the snapshot was read. */
export function viewOf(snapshot: Snapshot, age: () => number): ElectionView {
  const { election, record, version, candidates } = snapshot;
  const leader = leaderOf(snapshot);
  return {
    election,
    state: leader !== null ? 'led' : record.pause !== null ? 'paused' : 'vacant',
    leader,
    term: record.latest?.term ?? 0,
    token: record.latest?.token ?? null,
    candidates,
    paused: record.pause,
    version,
    get ageMs() {
      return age();
    },
  };
}
