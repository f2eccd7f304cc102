import type { PostgresConfig } from '../../deploy/local/index.js';

/** What a worker has to know. */
export interface WorkerSettings {
  readonly name: string;
  /** ZooKeeper's connect string. */
  readonly servers: string;
  readonly sessionTimeoutMs: number;
  readonly postgres: PostgresConfig;
}

/** From the demo to a worker. */
export type Command =
  | { readonly do: 'start'; readonly settings: WorkerSettings }
  /** Stop yourself (SIGSTOP) at the worst moment: between the check of the lease and the next write. For this term only. */
  | { readonly do: 'freeze_before_write' }
  /** Give the leadership up in good order. */
  | { readonly do: 'hand_over' };

/** From a worker to the demo. Tokens are decimal text: JSON can't carry 64 bits. */
export type News =
  | { readonly type: 'elected'; readonly term: number; readonly token: string; readonly cause: string }
  /** The lease of the term lasts until this moment at least. */
  | { readonly type: 'lease'; readonly term: number; readonly until: number }
  | { readonly type: 'suspect'; readonly term: number; readonly reason: string }
  | { readonly type: 'leading'; readonly term: number; readonly suspectMs: number }
  /** The term is over for this process. */
  | { readonly type: 'lost'; readonly term: number; readonly reason: string }
  /** The worker's function has ended: nothing will be written under this term any more. */
  | { readonly type: 'stopped'; readonly term: number }
  /** One run of the schedule settled the batches from `first` to `last`. */
  | { readonly type: 'settled'; readonly term: number; readonly first: number; readonly last: number }
  /** A batch that `holder` has begun in an older term, and not settled. */
  | { readonly type: 'found'; readonly term: number; readonly second: number; readonly holder: string }
  | { readonly type: 'freezing'; readonly term: number; readonly second: number }
  | {
      readonly type: 'refused';
      readonly term: number;
      readonly second: number;
      readonly token: string;
      readonly highest: string;
    };

/** News and the moment (see moment.ts) that it speaks of. */
export type Report = News & { readonly at: number };
