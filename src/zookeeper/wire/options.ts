import type { SessionOptions } from '../session-options.js';
import type { TlsOptions } from './tls.js';

export interface WireDriverOptions extends SessionOptions {
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
}

/** Of T: see {@link WireDriverOptions.expireAfterMs}. */
export const EXPIRE_AFTER_TIMEOUTS = 10;

export const MAX_REPLY_BYTES = 32 * 2 ** 20;
