import type { CreateMode, Stat } from '../../src/election/port.js';
import type { CoordinatorErrorKind } from '../../src/errors.js';

/** What a client (or the ensemble itself) asks to be changed. */
export type Write =
  | { readonly type: 'create'; readonly path: string; readonly data: Uint8Array; readonly mode: CreateMode }
  | { readonly type: 'remove'; readonly path: string; readonly version: number }
  | { readonly type: 'write'; readonly path: string; readonly data: Uint8Array; readonly version: number }
  /** Changes nothing: part of a {@link Write} of several. */
  | { readonly type: 'check'; readonly path: string; readonly version: number }
  /** All of them, or none. */
  | { readonly type: 'multi'; readonly parts: readonly Write[] }
  | { readonly type: 'open'; readonly session: string; readonly timeoutMs: number }
  | { readonly type: 'close'; readonly session: string };

/** What the ensemble's leader made of it: decided once, the same for every server. */
export type Change =
  | { readonly type: 'create'; readonly path: string; readonly data: Uint8Array; readonly owner: string | null }
  | { readonly type: 'remove'; readonly path: string }
  | { readonly type: 'write'; readonly path: string; readonly data: Uint8Array }
  | { readonly type: 'open'; readonly session: string; readonly timeoutMs: number }
  | { readonly type: 'close'; readonly session: string; readonly ephemerals: readonly string[] }
  | { readonly type: 'nothing' }
  | { readonly type: 'multi'; readonly changes: readonly Change[] }
  /** Refused; a transaction all the same, so that its reply keeps its place. `part`: which of several was refused. */
  | { readonly type: 'refuse'; readonly kind: Refusal; readonly part?: number };

/** Session moved: asked for by way of a server that the session has left. The client is never told; its connection there is cut. */
export type Refusal = CoordinatorErrorKind | 'session_moved';

/** A write on its way to the ensemble's leader. */
export interface Submission {
  readonly write: Write;
  /** On whose behalf; null for an operator's hand, which needs no live session. */
  readonly session: string | null;
  /** The server that the session is attached to. */
  readonly via: number;
  /** What the submitting server finds its waiting request by. */
  readonly origin: object | null;
}

export interface Transaction {
  /** Epoch in the high 32 bits, counter in the low ones. */
  readonly zxid: bigint;
  /** Wall-clock milliseconds of the server that led. */
  readonly time: number;
  readonly change: Change;
  readonly submission: Submission;
}

/** What the client is told of an applied write. */
export type Outcome =
  | { readonly ok: true; readonly path: string; readonly stat: Stat | null }
  | { readonly ok: false; readonly kind: Refusal; readonly part?: number };
