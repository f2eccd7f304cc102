import type { Chronicle } from './chronicle.js';
import type { Holds } from './holds.js';
import type { Host } from './host.js';
import type { Membership } from './port.js';
import type { Term } from './term.js';

/** Where this process is, for the candidate's node. */
export interface Whereabouts {
  readonly hostname: string;
  readonly pid: number;
}

/** What all elections of one connection share. */
export interface Commons {
  readonly host: Host;
  readonly membership: Membership;
  readonly root: string;
  readonly chroot: string;
  readonly whereabouts: Whereabouts;
  /** Aborted by `close()`. */
  readonly closing: AbortSignal;
  /** The terms that this process holds now. */
  readonly terms: Set<Term>;
  /** Those of them for which a worker of `lead` runs. */
  readonly working: Set<Term>;
  readonly holds: Holds;
  readonly chronicle: Chronicle;
}
