import type { Lookup } from '../resolve.js';
import type { ServerAddress } from '../servers.js';
import type { Acl } from '../wire/requests.js';

/** Credentials that the ensemble checks ACLs against, as in `{ scheme: 'digest', credential: 'user:password' }`. */
export interface Credential {
  readonly scheme: string;
  readonly credential: string;
}

export interface NativeDriverOptions {
  readonly servers: readonly ServerAddress[];
  /**
   * The session timeout T to ask for, in milliseconds. The ensemble clamps it to 2 to 20 of its ticks. The client gives each
   * attempt to connect 2/3 of what was asked for: below some 100 ms none succeeds.
   */
  readonly sessionTimeoutMs: number;
  /** How long `open()` may take, in milliseconds, name resolution included. A first server that hangs takes 2/3 T of it. */
  readonly connectTimeoutMs: number;
  readonly auth?: readonly Credential[] | undefined;
  /**
   * Of each node that is created, right after its creation: the C client can create it open to the world only. Default: everybody
   * may do everything.
   */
  readonly acl?: readonly Acl[] | undefined;
  /** Told, once for each process, what is dangerous about the installed addon. By default a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Resolves a host name. By default the system's resolver, off the event loop. */
  readonly lookup?: Lookup | undefined;
}
