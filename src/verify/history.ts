/**
 * What a run of workers under faults has left behind: enough for a judge that was not there. All times are milliseconds of one
 * monotonic clock that all its processes share. Tokens are decimal strings, so that a history is plain JSON.
 */
export interface History {
  readonly version: 1;
  /** Repeats the schedule of the faults. */
  readonly seed: number;
  readonly settings: HistorySettings;
  readonly beginAt: number;
  /** From here on there were no faults: whatever is left has to settle. */
  readonly calmAt: number;
  readonly endAt: number;
  readonly happenings: readonly Happening[];
  readonly acts: readonly ActSpan[];
  /** What the guarded resource accepted, in its own order. */
  readonly writes: readonly Write[];
  /** The keys of the writes that the resource confirmed to their writers. */
  readonly acknowledged: readonly string[];
  /** How often each batch had its effect. */
  readonly batches: readonly Batch[];
  readonly counters: readonly Counters[];
  readonly aftermath: Aftermath;
}

export interface HistorySettings {
  readonly sessionTimeoutMs: number;
  readonly tickTimeMs: number;
  readonly leaseMs: number;
  /** What a busy machine may add to a failover before that counts as too long. */
  readonly slackMs: number;
  /** Whether it was seen when there was a quorum. If not, a time without a leader for want of one counts against the run. */
  readonly quorumKnown: boolean;
}

/** What was done to the run, and what its processes said. */
export type Happening = { readonly at: number } & (
  | {
      readonly type: 'fault';
      readonly phase: 'begin' | 'end';
      /** The two phases of one fault share it. */
      readonly number: number;
      readonly fault: string;
      /** The workers that can't be expected to lead while it lasts. */
      readonly on: readonly string[];
      /** Whether nobody can be expected to lead while it lasts. */
      readonly stalls: boolean;
      readonly detail?: string;
    }
  | { readonly type: 'process'; readonly who: string; readonly what: 'ready' | 'ended' }
  | { readonly type: 'quorum'; readonly ok: boolean }
  | {
      readonly type: 'term';
      readonly who: string;
      readonly what: 'elected' | 'suspect' | 'leading' | 'draining' | 'lost';
      readonly term: number;
      readonly token: string;
      readonly reason?: string;
    }
  /** A write that the resource refused, as its writer saw it. */
  | { readonly type: 'refused'; readonly who: string; readonly token: string; readonly code: string }
);

/** From the first to the last moment at which somebody held its lease, by its own judgement. */
export interface ActSpan {
  readonly who: string;
  readonly term: number;
  readonly token: string;
  readonly first: number;
  readonly last: number;
}

export interface Write {
  readonly order: number;
  readonly key: string;
  readonly who: string;
  readonly token: string;
}

export interface Batch {
  readonly key: string;
  readonly times: number;
}

/** What the metrics of a worker that ended in good order said, beside what it had told of itself. */
export interface Counters {
  readonly who: string;
  readonly acquired: { readonly metric: number; readonly told: number };
  readonly lost: { readonly metric: number; readonly told: number };
  readonly refused: { readonly metric: number; readonly told: number };
}

/** What was found when all had settled, before the last workers were stopped, and after. */
export interface Aftermath {
  /** Worker processes that lived. */
  readonly alive: readonly string[];
  /** The ids of those who stood in the queue. */
  readonly candidates: readonly string[];
  readonly sessionNodes: number;
  /** Watches at all servers. */
  readonly watches: number;
  /** How many watches a candidate may have. */
  readonly watchesEach: number;
  /** Candidates, session nodes and processes that were left once all workers had been stopped. */
  readonly left: readonly string[];
}
