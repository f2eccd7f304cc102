import type { CoordinatorErrorKind, LossReason } from '../errors.js';
import type { Disturbance } from '../lease/disturbance.js';
import type { Token } from '../token.js';
import type { DrainReason, SuspectReason } from './holding.js';
import type { EndHow } from './record.js';

/**
 * What telemetry and logs are made from. Durations are milliseconds by the monotonic clock.
 * Listeners are called in order, synchronously, after the state that they speak of has changed.
 */
export interface TenureEvents {
  /** A session is open: the first one, or the next after an expiry. */
  session_opened: {
    /** 16 lowercase hex digits, as ZooKeeper logs it. */
    sessionId: string;
    /** The session timeout T that was granted. */
    timeoutMs: number;
    /** The session timeout that was asked for. */
    requestedMs: number;
    /** How long a leader may act after it sent its last confirmed renewal. */
    leaseMs: number;
  };
  /** No session could be opened; it is tried again. */
  session_failed: {
    /** Why. */
    error: Error;
    /** How many have failed before it, since the last session. */
    attempt: number;
  };
  /** What became of the session or its connection. */
  session_state: {
    /** 16 lowercase hex digits. */
    sessionId: string;
    /** `disconnected`: it lives on at the ensemble, for T at most, and comes back or expires. */
    state: 'connected' | 'disconnected' | 'expired' | 'closed';
  };
  /** A renewal was answered by the quorum. */
  renewal_confirmed: {
    /** From sending it to its answer. */
    roundTripMs: number;
  };
  /** A renewal was not. */
  renewal_failed: {
    /** What went wrong. */
    kind: CoordinatorErrorKind;
  };
  /** Something happened to this process or its clocks: leaders are suspect until a renewal is confirmed. */
  disturbed: {
    /** What, and for how long. */
    disturbance: Disturbance;
  };

  /** A campaign has begun: it is about to join the queue. */
  campaign_started: ElectionEvent;
  /** In the queue. */
  joined: ElectionEvent & {
    /** The name of our candidate node. */
    node: string;
    /** How many stood before us. */
    ahead: number;
  };
  /** Fewer may stand before us now. */
  position: ElectionEvent & {
    /** How many at most. */
    ahead: number;
  };
  /** Who stands right before us: we have read its node, and watch it. */
  predecessor: ElectionEvent & {
    /** The name of its candidate node. */
    node: string;
    /** A candidate of another library. */
    foreign: boolean;
  };
  /** Out of the queue, without a term: given up, held, deleted by hand, or stepping back for the target of a transfer. */
  left: ElectionEvent;
  /** First, and waiting for an unannounced old lease to be over. */
  patient: ElectionEvent & {
    /** For how long. */
    waitMs: number;
  };
  /** Our claim is sent. */
  claiming: TermEvent;
  /** The claim was refused, or its reply lost: the record will tell. */
  claim_unclear: TermEvent;
  /** The term record as it was read. */
  record_seen: ElectionEvent & {
    /** The latest term of record; 0 before the first. */
    recordedTerm: number;
    /** Null where nobody here watches it: then it may change unseen. */
    paused: boolean | null;
  };
  /** A campaign is over. */
  campaign_ended: ElectionEvent & {
    /** `aborted`: its signal was, or this process is held or closing. */
    outcome: 'won' | 'aborted' | 'failed';
    /** From its beginning. */
    durationMs: number;
  };

  /** We lead: our claim is confirmed. */
  elected: TermEvent & {
    /** From joining the queue to the claim. */
    electionMs: number;
    /**
     * How long nobody led, up to the claim: from the vacancy, or where nobody announced it from the old leader's
     * last renewal that we saw. Null for the first term ever.
     */
    failoverMs: number | null;
    /** How long we waited for an unannounced old lease to be over; 0 where there was no need. */
    patienceMs: number;
    /** How the previous term ended. */
    cause: EndHow | 'first';
  };
  /** `recover` has returned, and the worker starts. */
  recovered: TermEvent & {
    /** How long it took. */
    durationMs: number;
  };
  /** The leader can't vouch for its lease now: it starts no work and writes nothing. */
  suspect: TermEvent & {
    /** Why. */
    reason: SuspectReason;
  };
  /** Leading, for the first time or again after a doubt. */
  leading: TermEvent & {
    /** How long the doubt lasted; 0 for the first time. */
    suspectMs: number;
  };
  /** The leadership is given up: the worker is to finish. */
  draining: TermEvent & {
    /** Why. */
    reason: DrainReason;
  };
  /** The term is over for this process. */
  lost: TermEvent & {
    /** Why. */
    reason: LossReason;
    /** How long it had led. */
    ledMs: number;
  };
  /** A worker function had not settled when its time to drain was over: it may still be running. */
  undrained: TermEvent & {
    /** The option `drainTimeoutMs` of its election. */
    drainTimeoutMs: number;
  };
  /** Our end is in the record and our node is out of the queue, or the session is dead. */
  released: TermEvent & {
    /** Whether the end is in the record: otherwise the successor is patient. */
    announced: boolean;
  };
  /** Our token isn't above one that is on record: of the last term, or of a resource that refused ours while our lease was good. */
  token_regressed: ElectionEvent & {
    /** Ours. */
    token: Token;
    /** The one on record. */
    recorded: Token;
  };
}

/** What every event of a candidate tells. */
export interface ElectionEvent {
  /** The election's name. */
  election: string;
  /** The candidate's id. */
  candidateId: string;
}

/** What every event of a term tells. */
export interface TermEvent extends ElectionEvent {
  /** 1, 2, 3, … per election. */
  term: number;
  /** Its fencing token. */
  token: Token;
}

export type EventName = keyof TenureEvents;

/** Emits one event. */
export type EventSink = <K extends EventName>(name: K, event: TenureEvents[K]) => void;
