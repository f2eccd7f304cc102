import type { SessionOptions } from '../session-options.js';

/**
 * The client gives each attempt to connect 2/3 of the session timeout that was asked for: below some 100 ms none succeeds, and a
 * first server that hangs takes 2/3 T of `connectTimeoutMs`. It can create nodes open to the world only, so that `acl` is set right
 * after their creation.
 */
export interface NativeDriverOptions extends SessionOptions {
  /** Told, once for each process, what is dangerous about the installed addon. By default a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
}
