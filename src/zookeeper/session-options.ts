import type { Acl } from './acl.js';
import type { Lookup } from './resolve.js';
import type { ServerAddress } from './servers.js';

/** Credentials that the ensemble checks ACLs against, as in `{ scheme: 'digest', credential: 'user:password' }`. */
export interface Credential {
  readonly scheme: string;
  readonly credential: string;
}

/** What every driver has to know to open a session. */
export interface SessionOptions {
  readonly servers: readonly ServerAddress[];
  /** The session timeout T to ask for, in milliseconds. The ensemble clamps it to 2 to 20 of its ticks. */
  readonly sessionTimeoutMs: number;
  /** How long `open()` may take, in milliseconds, name resolution included. */
  readonly connectTimeoutMs: number;
  /** Presented on every connection. Default none. */
  readonly auth?: readonly Credential[] | undefined;
  /** Of each node that is created. Default: everybody may do everything. */
  readonly acl?: readonly Acl[] | undefined;
  /** Resolves a host name. By default the system's resolver, off the event loop. */
  readonly lookup?: Lookup | undefined;
}
