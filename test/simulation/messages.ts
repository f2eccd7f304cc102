import type { NodeChange, NodeData, Stat } from '../../src/election/port.js';
import type { CoordinatorErrorKind } from '../../src/errors.js';
import type { Submission, Transaction, Write } from './transaction.js';

export type Read =
  | { readonly type: 'read' | 'stat' | 'children'; readonly path: string; readonly watch: boolean }
  | { readonly type: 'sync'; readonly path: string };

export type Operation = Write | Read;

/** Paths by kind of watch, as a client re-sets them after a reconnect. */
export interface Watched {
  readonly data: readonly string[];
  readonly exists: readonly string[];
  readonly child: readonly string[];
}

export type ToServer =
  | { readonly type: 'connect'; readonly session: string | null; readonly timeoutMs: number; readonly seen: bigint }
  | { readonly type: 'rewatch'; readonly since: bigint; readonly watched: Watched }
  | { readonly type: 'operation'; readonly operation: Operation }
  | { readonly type: 'ping' };

export type Answer =
  | { readonly ok: true; readonly path: string; readonly stat: Stat | null }
  | { readonly ok: true; readonly node: NodeData | null }
  | { readonly ok: true; readonly names: readonly string[] | null; readonly stat: Stat | null }
  | { readonly ok: false; readonly kind: CoordinatorErrorKind; readonly part?: number };

export type ToClient =
  /** A null session: expired. */
  | { readonly type: 'attached'; readonly session: string | null; readonly timeoutMs: number }
  /** Replies come in the order of the operations. */
  | { readonly type: 'reply'; readonly zxid: bigint; readonly answer: Answer }
  | { readonly type: 'pong'; readonly zxid: bigint }
  | { readonly type: 'event'; readonly path: string; readonly change: NodeChange };

/** A server's question about a session, answered by the leader. The object itself finds its asker. */
export interface Inquiry {
  readonly session: string;
  readonly answered: (timeoutMs: number | null) => void;
}

export type ToLeader =
  | { readonly type: 'join' }
  | { readonly type: 'ack'; readonly length: number }
  | { readonly type: 'submit'; readonly submission: Submission }
  | { readonly type: 'revalidate'; readonly inquiry: Inquiry }
  | { readonly type: 'sync'; readonly done: () => void }
  | { readonly type: 'touched'; readonly sessions: readonly string[] };

export type ToFollower =
  /** The leader's whole log, to be taken over; acknowledged by its length. */
  | { readonly type: 'adopt'; readonly log: readonly Transaction[]; readonly epoch: bigint }
  /** The leader has its quorum and has applied this much: serve. */
  | { readonly type: 'serve'; readonly committed: number }
  | { readonly type: 'propose'; readonly transaction: Transaction }
  | { readonly type: 'commit'; readonly committed: number }
  | { readonly type: 'ping' }
  | { readonly type: 'revalidated'; readonly inquiry: Inquiry; readonly timeoutMs: number | null }
  | { readonly type: 'synced'; readonly done: () => void };
