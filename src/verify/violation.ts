/** What a history must not show; see docs/verification.md. */
export type ViolationKind =
  | 'token_reused'
  | 'token_not_increasing'
  | 'leases_overlap'
  | 'acted_after_loss'
  | 'stale_write_accepted'
  /** The resource accepted a token that its writer had never claimed. */
  | 'write_without_claim'
  /** The resource refused a token although nobody had claimed a higher one. */
  | 'refused_without_cause'
  /** A write was confirmed, and then overwritten by somebody who didn't know of it. */
  | 'write_lost'
  | 'batch_not_once'
  | 'gap_too_long'
  | 'gap_unexplained'
  | 'no_leader_in_the_end'
  | 'ghost_candidate'
  | 'missing_candidate'
  | 'watches_leaked'
  | 'sessions_leaked'
  | 'left_behind'
  | 'metrics_disagree'
  /** Too little happened for the absence of violations to mean anything. */
  | 'nothing_to_judge';

export interface Violation {
  readonly kind: ViolationKind;
  /** Milliseconds since the run began; undefined where it has no moment. */
  readonly at?: number;
  readonly detail: string;
}
