import type { Session } from '../election/port.js';
import type { Election } from '../index.js';
import type { Happening } from './history.js';
import type { Line } from './lines.js';
import type { WorkerProcess } from './worker-process.js';

/** A place for one worker: its lines to the servers, and who works there now. */
export interface Seat {
  readonly name: string;
  /** To each server; empty where its packets go straight. */
  readonly lines: readonly Line[];
  readonly worker: WorkerProcess | undefined;
}

/** Where workers are tormented, as far as those need to know who do it. */
export interface Arena<S extends Seat = Seat> {
  readonly election: string;
  /** Where the election lies, chroot included. */
  readonly root: string;
  readonly sessionTimeoutMs: number;
  readonly happenings: Happening[];
  /** Those whose workers live, and aren't frozen. */
  readonly awake: readonly S[];
  /** Whose worker leads. */
  readonly leader: S | undefined;
  /** How many servers there are to which something may be done. */
  readonly servers: number;
  /** Starts a worker on a seat that is free. */
  start(seat: S): void;
  /** Does something to the znodes, in a session of its own. Undefined where that can't be done now. */
  byHand<R>(act: (session: Session) => Promise<R>): Promise<R | undefined>;
  /** Gives an operator's order. Undefined where it was refused, or no quorum is there to hear it. */
  order<R>(give: (election: Election) => Promise<R>): Promise<R | undefined>;
}
