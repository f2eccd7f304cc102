import type { Instant } from '../lease/clock.js';
import type { Sightings } from '../lease/patience.js';
import type { Token } from '../token.js';
import type { PreviousTerm, TermOfRecord, TermRecord } from './record.js';
import type { KnownTransfer } from './transfer.js';

/**
 * A candidacy from its place in the queue to its claim, as a pure reducer:
 *
 *     waiting → patient → claiming → claimed
 *        └─────────┴──────────┴────→ out
 *
 * - waiting: somebody stands before us; we watch the one right before us, and, when that is the
 *   leader of record, also the record and its renewals.
 * - patient: first. Waits for the record, for a pause to end, or for the old lease to be over. Steps back for the
 *   target of a transfer.
 * - claiming: our compare-and-set is under way.
 *
 * Events come in the order in which replies and changes arrived; see the port. The reducer itself is in
 * `campaign-step.ts`; what carries out its effects is `candidacy.ts`.
 */

/** Our node, verified to be owned by our present session. */
export interface Self {
  readonly node: string;
  readonly czxid: bigint;
}

/** What has been read of the term record. */
export interface RecordView {
  readonly record: TermRecord;
  /** The znode's version, or -1 where there is none yet. */
  readonly version: number;
  /** A watch is in place and nothing has been announced since. */
  readonly current: boolean;
}

/** What the successor sees of the leader's session node. */
export interface LeaderWatch {
  readonly session: string;
  readonly sightings: Sightings;
  /** The session's last word: its terms are over. */
  readonly ended: boolean;
}

/** What is common to all who stand in the queue. */
export interface Standing {
  readonly self: Self;
  readonly view: RecordView | null;
  readonly leader: LeaderWatch | null;
  /** The last term that we have read of and that nobody has announced as over: its lease is to be outlasted. */
  readonly mourned: TermOfRecord | null;
  /** The transfer that the record asks for, where it does. */
  readonly transfer: KnownTransfer | null;
  /** Whether our node is known to be there still. Where it isn't, nothing is concluded from a record that seems to say otherwise. */
  readonly sure: boolean;
}

export interface Waiting extends Standing {
  readonly name: 'waiting';
  /** Everyone who stood before us when we joined, in order. It stays true: numbers only grow. */
  readonly queue: readonly string[];
  /** How many of them may still stand: the predecessor is the last of these. */
  readonly position: number;
  /** Predecessors in a row that were gone before we could watch them. */
  readonly misses: number;
}

export interface Patient extends Standing {
  readonly name: 'patient';
  /** Monotonic moment at which we learned that the old leader's node is gone. */
  readonly vacancyAt: number;
  /** When a claim of ours was first sent, if one was: its reply may have been lost. */
  readonly claimSentAt: Instant | null;
}

export interface Claiming extends Omit<Patient, 'name'> {
  readonly name: 'claiming';
  readonly token: Token;
}

export interface Claimed {
  readonly name: 'claimed';
  readonly self: Self;
  readonly view: RecordView;
  readonly latest: TermOfRecord;
  readonly previous: PreviousTerm | null;
  /** The record that our claim replaced; null where the claim was recognised only afterwards. */
  readonly replaced: TermRecord | null;
  /** When the claim was sent: the lease counts from here. */
  readonly sentAt: Instant;
  /**
   * Monotonic moment from which nobody led, as far as we saw: the vacancy, or the newest renewal that we saw of a leader
   * whose end nobody announced. For measuring: patience has been judged before.
   */
  readonly leaderlessSince: number;
}

export interface Out {
  readonly name: 'out';
  readonly why: 'node_gone' | 'token_regressed' | 'stepped_back';
  /** The record as last read, and the token that we would have had. */
  readonly view: RecordView | null;
  readonly token: Token | null;
  /** The highest token of an earlier term that we know of; 0 where there is none. */
  readonly highest: Token;
  /** A claim was sent and may stand in the record, though its term was never opened. */
  readonly mayHaveClaimed: boolean;
}

export type CampaignState = Waiting | Patient | Claiming | Claimed | Out;

export type CampaignEvent =
  /** The watch on a predecessor is in place (`found`), or there was nothing left to watch. */
  | { readonly type: 'predecessor'; readonly node: string; readonly found: boolean }
  /** A change of the predecessor's node. A leader touches its own node when it has claimed: for its follower alone. */
  | { readonly type: 'predecessor_changed'; readonly node: string; readonly gone: boolean }
  /** The queue was listed again: who stands before us now. */
  | { readonly type: 'listed'; readonly queue: readonly string[] }
  | { readonly type: 'record'; readonly view: RecordView }
  | { readonly type: 'record_changed' }
  /** Whether the target of a transfer still stands in the queue. */
  | { readonly type: 'target'; readonly node: string; readonly found: boolean }
  /** The leader's session node as the reply of a watching read showed it; absent where it is gone. */
  | { readonly type: 'leader_seen'; readonly session: string; readonly found: boolean; readonly ended: boolean }
  | { readonly type: 'leader_changed'; readonly session: string; readonly gone: boolean }
  | { readonly type: 'disconnected' }
  | { readonly type: 'alarm' }
  | { readonly type: 'claim_sent'; readonly sentAt: Instant }
  /** The claim is confirmed, and our node was there when it was applied; `view` is the record as it was written. */
  | { readonly type: 'claimed'; readonly view: RecordView }
  /** Refused, or its reply lost: the record will tell. */
  | { readonly type: 'claim_unclear' }
  | { readonly type: 'own_node_gone' }
  /** The watch on our node was lost with its connection; we have asked for it again. */
  | { readonly type: 'own_node_unsure' }
  | { readonly type: 'own_node_sure' };

export type CampaignEffect =
  | { readonly do: 'watch_predecessor'; readonly node: string }
  | { readonly do: 'list' }
  | { readonly do: 'read_record'; readonly watch: boolean }
  | { readonly do: 'watch_leader'; readonly session: string }
  /** Ask whether this candidate still stands. */
  | { readonly do: 'seek'; readonly node: string }
  /** Make our session node now, so that a claim need not wait for it. */
  | { readonly do: 'prepare' }
  | { readonly do: 'alarm'; readonly at: number }
  | {
      readonly do: 'claim';
      readonly base: TermRecord;
      readonly version: number;
      readonly term: number;
      readonly token: Token;
      readonly previous: PreviousTerm | null;
    };

export interface CampaignRules {
  /** Waited on top of patience after an unannounced end, in milliseconds. */
  readonly takeoverDelayMs: number;
}
