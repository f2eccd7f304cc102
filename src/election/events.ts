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
  session_opened: { sessionId: string; timeoutMs: number; requestedMs: number; leaseMs: number };
  session_failed: { error: Error; attempt: number };
  session_state: { sessionId: string; state: 'connected' | 'disconnected' | 'expired' | 'closed' };
  renewal_confirmed: { roundTripMs: number };
  renewal_failed: { kind: CoordinatorErrorKind };
  disturbed: { disturbance: Disturbance };

  campaign_started: ElectionEvent;
  /** In the queue: how many stood before us. */
  joined: ElectionEvent & { node: string; ahead: number };
  /** Fewer may stand before us now. */
  position: ElectionEvent & { ahead: number };
  /** Who stands right before us: we have read its node, and watch it. */
  predecessor: ElectionEvent & { node: string; foreign: boolean };
  /** First, and waiting for an unannounced old lease to be over. */
  patient: ElectionEvent & { waitMs: number };
  /** Our claim is sent. */
  claiming: TermEvent;
  /** The claim was refused, or its reply lost: the record will tell. */
  claim_unclear: TermEvent;
  /** The term record as it was read. `paused` is null where nobody here watches it: then it may change unseen. */
  record_seen: ElectionEvent & { recordedTerm: number; paused: boolean | null };
  campaign_ended: ElectionEvent & { outcome: 'won' | 'aborted' | 'failed'; durationMs: number };

  elected: TermEvent & {
    /** From joining the queue to the claim. */
    electionMs: number;
    /**
     * How long nobody led, up to the claim: from the vacancy, or where nobody announced it from the old leader's
     * last renewal that we saw. Null for the first term ever.
     */
    failoverMs: number | null;
    patienceMs: number;
    /** How the previous term ended. */
    cause: EndHow | 'first';
  };
  recovered: TermEvent & { durationMs: number };
  suspect: TermEvent & { reason: SuspectReason };
  /** Leading, for the first time or again after a doubt that lasted `suspectMs`. */
  leading: TermEvent & { suspectMs: number };
  draining: TermEvent & { reason: DrainReason };
  lost: TermEvent & { reason: LossReason; ledMs: number };
  /** A worker function had not settled when its time to drain was over: it may still be running. */
  undrained: TermEvent & { drainTimeoutMs: number };
  /** Our end is in the record and our node is out of the queue, or the session is dead. */
  released: TermEvent & { announced: boolean };
  /** Our token isn't above one that is on record (`recorded`): of the last term, or of a resource that refused ours while our lease was good. */
  token_regressed: ElectionEvent & { token: Token; recorded: Token };
}

export interface ElectionEvent {
  election: string;
  candidateId: string;
}

export interface TermEvent extends ElectionEvent {
  term: number;
  token: Token;
}

export type EventName = keyof TenureEvents;

/** Emits one event. */
export type EventSink = <K extends EventName>(name: K, event: TenureEvents[K]) => void;
