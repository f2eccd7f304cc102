import type { Lookup } from '../resolve.js';
import type { ServerAddress } from '../servers.js';
import type { Acl } from './requests.js';
import type { TlsOptions } from './tls.js';

/** Credentials that the ensemble checks ACLs against, as in `{ scheme: 'digest', credential: 'user:password' }`. */
export interface Credential {
  readonly scheme: string;
  readonly credential: string;
}

export interface WireDriverOptions {
  readonly servers: readonly ServerAddress[];
  /** The session timeout T to ask for, in milliseconds. The ensemble clamps it to 2 to 20 of its ticks. */
  readonly sessionTimeoutMs: number;
  /** How long `open()` may take, in milliseconds, name resolution included. */
  readonly connectTimeoutMs: number;
  /** Presented on every connection. Default none. */
  readonly auth?: readonly Credential[] | undefined;
  /** Of each node that is created. Default: everybody may do everything. */
  readonly acl?: readonly Acl[] | undefined;
  /** Default: plain TCP. */
  readonly tls?: TlsOptions | undefined;
  /** The servers' `jute.maxbuffer`, in bytes: no longer request is sent, as they would hang up. Default 1,048,575. */
  readonly maxRequestBytes?: number | undefined;
  /** The longest reply that is taken, in bytes: a queue of 100,000 candidates needs 7 MB. Default 32 MiB. */
  readonly maxReplyBytes?: number | undefined;
  /**
   * The session is given up, as `expired`, when no server has taken us for so long, in milliseconds. Only the ensemble knows
   * whether it lives: one that outlasts an ensemble which was away keeps its nodes and its places. But an ensemble that
   * was restored from a backup never takes who has seen its future. Default 10 T.
   */
  readonly expireAfterMs?: number | undefined;
  /** Resolves a host name. By default the system's resolver, off the event loop. */
  readonly lookup?: Lookup | undefined;
}

/** Of T: see {@link WireDriverOptions.expireAfterMs}. */
export const EXPIRE_AFTER_TIMEOUTS = 10;

export const MAX_REPLY_BYTES = 32 * 2 ** 20;
