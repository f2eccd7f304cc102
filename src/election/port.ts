import type { CoordinatorErrorKind } from '../errors.js';
import type { Cancel, Instant } from '../lease/clock.js';
import type { Disturbance } from '../lease/disturbance.js';
import type { Stoppable } from './stop.js';
import type { Turns } from './turns.js';

/**
 * The port: what an election needs of a coordinator. Two adapters fill it (`zookeeper/native`,
 * `zookeeper/wire`), and the simulated ensemble of the tests; one conformance suite holds for all.
 *
 * What every adapter must keep:
 * - **Order.** Replies, node changes and session states reach us strictly in the order in which
 *   they arrived on the connection, each followed by all the promise reactions that it causes
 *   before the next is delivered. The protocol's proofs lean on it.
 * - **Pipelining.** Operations are sent in call order without waiting for one another.
 * - **Honesty.** A promise fulfils only on the server's success reply. Every operation settles:
 *   after `expired` or `closed`, with that kind of {@link CoordinatorError}.
 * - **Exactness.** 64-bit numbers are bigint; one that the driver can't carry exactly is refused
 *   with kind `inexact_integer`.
 * - **Quiet.** Listeners are never called from inside a call of ours; none is called after `close()` resolves.
 */

/** What happened to a node on which a watch was left. A reason to look, never a fact to act on. */
export type NodeChange = 'created' | 'deleted' | 'changed' | 'children';

/**
 * A session's state. `connected ⇄ disconnected`, then `expired` (the ensemble said so, or took the
 * session from us) or `closed` (we did); both are final.
 */
export type SessionState = 'connected' | 'disconnected' | 'expired' | 'closed';

export type CreateMode = 'persistent' | 'ephemeral' | 'ephemeral_sequential';

export interface Stat {
  /** The transaction that created the node: unique, and increasing over the whole ensemble. */
  readonly czxid: bigint;
  readonly mzxid: bigint;
  /** Wall-clock milliseconds of the server that led: for people to read. */
  readonly ctime: number;
  readonly mtime: number;
  readonly version: number;
  /** Incremented by each child created or deleted; bounds the sequence numbers handed out so far. */
  readonly cversion: number;
  /** The owning session's id as 16 lowercase hex digits, or null for a persistent node. */
  readonly owner: string | null;
  readonly children: number;
}

export interface NodeData {
  readonly data: Uint8Array;
  readonly stat: Stat;
}

export interface Children {
  readonly names: readonly string[];
  /** Of the parent. */
  readonly stat: Stat;
}

/** One step of a {@link Session.transaction}. `version` -1, or none, matches any. */
export type TransactionPart =
  | { readonly do: 'create'; readonly path: string; readonly data: Uint8Array; readonly mode: CreateMode }
  | { readonly do: 'write'; readonly path: string; readonly data: Uint8Array; readonly version: number }
  | { readonly do: 'remove'; readonly path: string; readonly version?: number }
  /** The node is there, at this version. */
  | { readonly do: 'check'; readonly path: string; readonly version?: number };

/** One session with the ensemble. Paths are absolute and whole: a chroot is a prefix that the caller puts before them. */
export interface Session {
  /** 16 lowercase hex digits, as in {@link Stat.owner}. */
  readonly id: string;
  /** The negotiated session timeout T in milliseconds: what the ensemble granted, not what was asked for. */
  readonly timeoutMs: number;
  /** The session's password as 32 hex digits, where the driver has one: with the id, all that another process needs to end it. */
  readonly password?: string;
  readonly state: SessionState;

  onState(listener: (state: SessionState) => void): Cancel;
  /** Routes changes of `path` to the listener. It leaves no watch: the reads below do, once each. */
  onNode(path: string, listener: (change: NodeChange) => void): Cancel;
  /** As {@link onNode}, with nothing made for each path: for those of whom there are thousands. Twice for one path is once. */
  listen(path: string, listener: NodeListener): void;
  unlisten(path: string, listener: NodeListener): void;

  /** @returns the path, with the sequence number appended where the mode says so */
  create(path: string, data: Uint8Array, mode: CreateMode): Promise<string>;
  /** `version` -1 (the default) matches any. */
  remove(path: string, version?: number): Promise<void>;
  /** `version` -1 matches any; otherwise a compare-and-set. */
  write(path: string, data: Uint8Array, version: number): Promise<Stat>;

  /** Null where there is no node; then no watch is left. The watch fires once, on `changed` or `deleted`. */
  read(path: string, options?: { watch?: boolean }): Promise<NodeData | null>;
  /** Null where there is no node; the watch is left all the same, and fires once, on `created`, `changed` or `deleted`. */
  stat(path: string, options?: { watch?: boolean }): Promise<Stat | null>;
  /** Null where there is no node; then no watch is left. The watch fires once, on `children` or `deleted`. */
  children(path: string, options?: { watch?: boolean }): Promise<Children | null>;
  /**
   * Applies all parts, or none: only where the driver can. Rejects with the refusal of the part that was refused, which
   * bears that part's operation and path.
   */
  transaction?(parts: readonly TransactionPart[]): Promise<void>;
  /**
   * Brings the server that we are on up to date with the ensemble's leader. Proves nothing: no quorum is asked. Where that server is the
   * leader itself it lets a sync pass like a read (`matchSyncs` of its CommitProcessor), and a write that a follower has
   * confirmed already may show a moment later.
   */
  sync(path: string): Promise<void>;

  /** Ends the session; its ephemeral nodes go at once. Never rejects. */
  close(): Promise<void>;
}

/** Opens sessions. One for each `connect()`. */
export interface Driver {
  /** `native`, `wire` or `simulated`. */
  readonly name: string;
  /**
   * Opens a new session and resolves when the ensemble has granted it.
   *
   * Rejects with {@link NameResolutionError}, {@link AuthenticationError} or {@link ConnectTimeoutError}
   * as the case may be, and with `signal.reason` when aborted.
   */
  open(signal?: AbortSignal): Promise<Session>;
}

/** What a holder of terms is told about the session that carries them, in order of arrival. */
export type RenewalNews =
  /** The quorum has accepted a renewal that we sent at `sentAt`. */
  | { readonly type: 'confirmed'; readonly sentAt: Instant; readonly now: Instant }
  | { readonly type: 'failed'; readonly kind: CoordinatorErrorKind }
  /** This process or its clocks were disturbed: nothing believed before is worth anything. */
  | { readonly type: 'disturbed'; readonly disturbance: Disturbance }
  /** The session node was deleted by somebody: no renewal can be confirmed under its name any more. */
  | { readonly type: 'gone' };

/** Who holds a term. */
export interface Holder {
  renewal(news: RenewalNews): void;
  /** Now and then, and again within `nextMs` unless this process is paused: whoever has something to do before then sets a timer. */
  tick(nextMs: number): void;
}

/** The renewals of one session: one write at a time for however many terms it carries. */
export interface Renewals {
  /** Makes the session node where it isn't yet. @returns its name, for the term record */
  prepare(): Promise<string>;
  /** The name of the node that renewals are written to now; null while there is none. A node that has gone is followed by one of another name. */
  readonly node: string | null;
  /** Renews for as long as anybody holds. */
  hold(holder: Holder): void;
  /** From one tick of its holders to the next, in milliseconds. */
  readonly tickMs: number;
  release(holder: Holder): void;
  /** Sends a renewal at once, outside its turn. */
  renewNow(): void;
}

/** Told, as it changes, what of a session there is to end if this process dies. */
export interface SessionLifeline {
  /** The session node's path, or null where there is none any more. */
  node(path: string | null): void;
  /** A term is held under this candidate node. */
  leads(path: string): void;
  /** It isn't any more. */
  left(path: string): void;
  /** The session is over: the last that is told. */
  over(): void;
}

/** Told of changes of nodes; one object may listen to several. */
export interface NodeListener {
  changed(path: string, change: NodeChange): void;
}

export interface Watcher {
  watchedChanged(path: string, gone: boolean): void;
}

/** Reads that leave a watch, of which one may serve many who watch the same node. */
export interface WatchedReads {
  /** Tells of changes from now on. It leaves no watch: the reads do. */
  watch(path: string, watcher: Watcher): void;
  unwatch(path: string, watcher: Watcher): void;
  read(path: string): Promise<NodeData | null>;
}

/** Who stands or leads on a session. */
export interface Onlooker {
  /** As {@link Session.onState}. */
  stateChanged(state: SessionState): void;
}

/** A live session with what belongs to it. */
export interface Attachment {
  readonly session: Session;
  readonly renewals: Renewals;
  /** Null where nobody ends it if this process dies. */
  readonly lifeline: SessionLifeline | null;
  /** Bounds what is under way at once, so that renewals never wait behind a crowd. */
  readonly turns: Turns;
  /** Of leaders' session nodes: one read for all candidacies that stand behind the same session. */
  readonly reads: WatchedReads;
  /** Told of the session's states, ahead of its listeners: thousands of those would weigh more. */
  readonly onlookers: Set<Onlooker>;
  /** The lease of the terms that this session carries, in milliseconds. */
  readonly leaseMs: number;
}

/** Where elections get their session from. */
export interface Membership {
  /**
   * The present session, or the next one when that has died: opened with backoff, for as long as it takes.
   *
   * Rejects with `signal.reason` when aborted, {@link ClosedError} after `close()`, {@link AuthenticationError}
   * where trying again can't help.
   */
  attach(signal?: Stoppable): Promise<Attachment>;
  /** The present session, if there is one that lives. */
  readonly current: Attachment | null;
}
