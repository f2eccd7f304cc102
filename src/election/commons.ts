import type { Chronicle } from './chronicle.js';
import type { Whereabouts } from './contest.js';
import type { Candidate, Holds } from './holds.js';
import type { Host } from './host.js';
import type { Membership } from './port.js';
import type { Stops } from './stop.js';
import type { Term } from './term.js';

/** What all elections of one connection share. */
export interface Commons {
  readonly host: Host;
  readonly membership: Membership;
  readonly root: string;
  readonly chroot: string;
  /** Where the session nodes lie. */
  readonly sessionsPath: string;
  readonly whereabouts: Whereabouts;
  /** Aborted by `close()`. */
  readonly closing: AbortSignal;
  readonly stops: Stops;
  /** The candidacies that join or stand in queues now. */
  readonly standing: Set<Candidate>;
  /** The terms that this process holds now. */
  readonly terms: Set<Term>;
  /** Those of them for which a worker of `lead` runs. */
  readonly working: Set<Term>;
  readonly holds: Holds;
  readonly chronicle: Chronicle;
}
