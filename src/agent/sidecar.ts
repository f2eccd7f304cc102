import { Turns } from '../election/turns.js';
import type { Logger, Tenure } from '../index.js';
import { Candidacies } from './candidacies.js';
import type { Candidacy } from './candidacy.js';
import type { Ending } from './candidacy-state.js';
import type { Connection } from './connection.js';
import { Observatory } from './observatory.js';
import { Overview } from './overview.js';
import { unavailable } from './problem.js';
import { Rate } from './rate.js';
import { Streams } from './streams.js';

export interface SidecarLimits {
  readonly elections: number;
  readonly candidacies: number;
  readonly streams: number;
  readonly bodyBytes: number;
  readonly changesPerSecond: number;
  /** How long a stream's buffer may stay full, in milliseconds. */
  readonly stallMs: number;
}

export interface SidecarOptions {
  /** The id of candidates that name none. */
  readonly id: string;
  readonly deadlineMs: number;
  /** Elections that are shown although nobody here takes part. */
  readonly observe: readonly string[];
  readonly limits: SidecarLimits;
  readonly logger: Logger;
}

type Listener = (candidacy: Candidacy, ending: Ending | null) => void;

/** Of what requests have read in ZooKeeper. A renewal waits behind all of them: whoever asks for a lot shall end nobody's lease. */
const READS_AT_ONCE = 16;

/** What all requests share. */
export class Sidecar {
  readonly options: SidecarOptions;
  readonly connection: Connection;
  readonly candidacies: Candidacies;
  readonly observatory: Observatory;
  readonly streams: Streams;
  /** Of what changes state: joining, giving up, control. */
  readonly changes: Rate;
  /** For what is read on request. */
  readonly reads = new Turns(READS_AT_ONCE);
  readonly overview: Overview;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #followers = new Set<(election: string) => void>();
  stopping = false;
  #hold: { readonly reason: string; readonly release: () => void } | null = null;

  constructor(options: SidecarOptions, connect: (sidecar: Sidecar) => Connection) {
    const { limits, logger, deadlineMs } = options;
    this.options = options;
    this.candidacies = new Candidacies({
      deadlineMs,
      maxCandidacies: limits.candidacies,
      logger,
      onChange: (candidacy) => this.#tell(candidacy, null),
      onEnd: (candidacy, ending) => this.#tell(candidacy, ending),
    });
    this.connection = connect(this);
    this.observatory = new Observatory((name) => this.connection.tenure?.onlooker(name) ?? null, this.reads, logger);
    this.overview = new Overview(this);
    this.streams = new Streams(limits.streams, limits.stallMs);
    this.changes = new Rate(limits.changesPerSecond, 20 + 2 * limits.candidacies);
  }

  /** A connection is there: what was said before it was holds for it too. */
  attached(tenure: Tenure): void {
    this.candidacies.follow(tenure);
    if (this.#hold !== null) this.hold(this.#hold.reason);
  }

  /** Has no candidate here lead, or no longer keeps them from it. */
  hold(reason: string | null): void {
    const before = this.#hold;
    const release = reason === null ? undefined : this.connection.tenure?.hold({ reason });
    this.#hold = reason === null ? null : { reason, release: release ?? (() => {}) };
    before?.release();
    for (const candidacy of this.candidacies.all()) candidacy.changed();
  }

  /** Why no candidate here may lead; null where they may. */
  get held(): string | null {
    return this.connection.tenure?.held ?? this.#hold?.reason ?? null;
  }

  get connected(): boolean {
    return this.connection.connected;
  }

  /** What the list of all elections shows. */
  get shown(): Set<string> {
    return new Set([...this.options.observe, ...this.candidacies.elections]);
  }

  shows(name: string): boolean {
    return this.candidacies.takesPartIn(name) || this.options.observe.includes(name);
  }

  /** @throws {Problem} when one election more would be too many */
  admit(name: string): void {
    if (this.candidacies.takesPartIn(name) || this.observatory.observes(name)) return;
    const { elections: limit } = this.options.limits;
    if (new Set([...this.candidacies.elections, ...this.observatory.elections]).size < limit) return;
    throw unavailable('too_many_elections', `this sidecar serves ${limit} elections, as many as it may`, 5);
  }

  /** Calls the listener for each change of a candidacy of that election. @returns how to stop that */
  listen(election: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(election) ?? new Set();
    this.#listeners.set(election, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(election);
    };
  }

  /** Calls the listener with the election whenever any candidacy changes. @returns how to stop that */
  follow(follower: (election: string) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  #tell(candidacy: Candidacy, ending: Ending | null): void {
    const { election } = candidacy;
    this.observatory.stir(election);
    for (const listener of [...(this.#listeners.get(election) ?? [])]) listener(candidacy, ending);
    for (const follower of [...this.#followers]) follower(election);
  }
}
