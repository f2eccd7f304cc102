import { backoffMs } from '../lease/backoff.js';
import type { Cancel } from '../lease/clock.js';
import { anyOf } from '../signals.js';
import { campaignUntilWon, REJOIN } from './campaigning.js';
import type { Metadata } from './candidate.js';
import { type Census, takeCensus } from './census.js';
import { abortSignal, checkKeys, oneOf } from './checks.js';
import type { Commons } from './commons.js';
import { Contest } from './contest.js';
import type { ControlOptions, EvictOptions, RaiseFloorOptions, TransferOptions } from './control-options.js';
import { Controls, type Evicted } from './controls.js';
import type { HistoryEntry } from './history.js';
import { checkHold, type HoldOptions } from './holds.js';
import { sleep } from './host.js';
import { checkLead, type LeadOptions, lead, type Worker } from './lead.js';
import { electionPaths } from './names.js';
import { Observation } from './observation.js';
import { sessionLives, untilAnswered } from './persistence.js';
import type { Pause, Transfer } from './record.js';
import type { Term } from './term.js';
import type { ElectionView } from './view.js';
import { orAborted } from './waiting.js';

/** An election's options, complete and checked; see {@link ElectionOptions}. */
export interface ElectionSettings {
  readonly id: string;
  readonly metadata: Metadata;
  readonly drainTimeoutMs: number;
  readonly takeoverDelayMs: number;
  readonly queuePath: string | undefined;
  readonly nodePrefix: string;
}

/** Options of {@link Election.campaign}. */
export interface CampaignOptions {
  /** Gives the candidacy up: its node is deleted, at once or as soon as the ensemble can be reached. */
  readonly signal?: AbortSignal;
  /** False: null at once if somebody stands before us. Default true. */
  readonly wait?: boolean;
}

/** What {@link Election.health} says. */
export interface Health {
  /** False when a worker still runs though its term has been over for longer than `drainTimeoutMs`. */
  readonly healthy: boolean;
  /** What is wrong, in a sentence; empty while healthy. */
  readonly detail: string;
}

/**
 * One election, as one candidate or as an observer. Made by {@link Tenure.election}; costs nothing
 * until one of its methods is called.
 */
export class Election {
  /** Its name: segments joined by `/`. */
  readonly name: string;
  /** This candidate's id. */
  readonly id: string;
  readonly #commons: Commons;
  readonly #contest: Contest;
  readonly #drainTimeoutMs: number;

  /** @internal */
  constructor(commons: Commons, name: string, settings: ElectionSettings) {
    const { root, chroot, host, whereabouts } = commons;
    const { id, metadata, nodePrefix, takeoverDelayMs, queuePath } = settings;
    const foreign = queuePath !== undefined;
    this.name = name;
    this.id = id;
    this.#commons = commons;
    this.#drainTimeoutMs = settings.drainTimeoutMs;
    this.#contest = new Contest(
      name,
      electionPaths(root, name, foreign ? chroot + queuePath : undefined),
      commons.sessionsPath,
      { id, metadata, whereabouts, joinedAt: host.clock.wall(), nodePrefix, takeoverDelayMs, foreign },
    );
  }

  /**
   * Leads again and again: joins the queue, and runs `worker` in each term that is won.
   *
   * - The leadership is lost: the worker's `term.signal` is aborted; once the worker has settled we join again, for ever.
   * - The worker returns by itself: the leadership is resigned, and `lead` resolves with its value (`again`: joins again).
   * - It throws, or `recover` does: resigned, then rejected with that error (`onError: 'rejoin'`: joins again, with backoff).
   *
   * @throws `options.signal.reason` when aborted; {@link ClosedError} after `close()`; {@link TokenRegressedError},
   *   {@link SequenceExhaustedError}, {@link TermRecordError} and other errors that joining again can't mend
   */
  async lead<T>(worker: Worker<T>, options: LeadOptions = {}): Promise<T> {
    checkLead(worker, options);
    const context = {
      host: this.#commons.host,
      drainTimeoutMs: this.#drainTimeoutMs,
      // One that waits ends in a term, or an error.
      campaign: (signal: AbortSignal | undefined) => this.#campaign(signal, true, false) as Promise<Term>,
      stop: (signal: AbortSignal) => this.#commons.stops.of(signal),
      working: (term: Term) => {
        this.#commons.working.add(term);
        return () => this.#commons.working.delete(term);
      },
    };
    return lead(context, worker, options);
  }

  /**
   * Campaigns for one term, held until you `resign()` it or it is lost: for those who don't want
   * {@link lead}. Rejoins the queue by itself after a lost session.
   *
   * @returns the term; with `wait: false` null where somebody stands before us
   * @throws as {@link lead}
   */
  campaign(options: CampaignOptions & { readonly wait: false }): Promise<Term | null>;
  campaign(options?: CampaignOptions & { readonly wait?: true }): Promise<Term>;
  // Not async, as little is to be kept for each of thousands that wait.
  campaign(options: CampaignOptions = {}): Promise<Term | null> {
    try {
      checkKeys('campaign', options, ['signal', 'wait'] satisfies (keyof CampaignOptions)[]);
      abortSignal('signal', options.signal);
      oneOf('wait', options.wait, [true, false]);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#campaign(options.signal, options.wait ?? true, true);
  }

  /**
   * The election as it is, then as it becomes: the newest view after each change; what was overtaken
   * while you were busy is dropped. Ends only with the signal, or `close()`.
   *
   * @throws `options.signal.reason` when aborted; {@link ClosedError} after `close()`
   */
  async *observe(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<ElectionView, never> {
    const stop = this.#stop(options.signal);
    const { host, membership } = this.#commons;
    for (let attempt = 0; ; attempt++) {
      const { session } = await membership.attach(stop);
      try {
        yield* new Observation(host, session, this.name, this.#contest.paths).views(stop);
      } catch (error) {
        if (stop.aborted || sessionLives(session)) throw error;
      }
      await sleep(host, backoffMs(REJOIN, attempt, host.random), stop);
    }
  }

  /** The election, read once. @throws {CoordinatorError} when no server answers before the session dies */
  async current(options: { readonly signal?: AbortSignal } = {}): Promise<ElectionView> {
    const stop = this.#stop(options.signal);
    const { host, membership } = this.#commons;
    const { session } = await membership.attach(stop);
    await orAborted(
      untilAnswered(host, session, () => session.sync('/'), stop),
      stop,
    );
    return orAborted(new Observation(host, session, this.name, this.#contest.paths).read(false), stop);
  }

  /**
   * For a liveness probe. Unhealthy when a worker of this election still runs although its term ended
   * longer ago than its time to drain: nothing but ending the process is certain to stop it.
   */
  health(): Health {
    const { working } = this.#commons;
    for (const term of working) {
      const overForMs = term.overForMs;
      if (term.election !== this.name || overForMs <= this.#drainTimeoutMs) continue;
      return {
        healthy: false,
        detail: `the worker of term ${term.number} of ${JSON.stringify(this.name)} still runs ${Math.round(overForMs)} ms after its end`,
      };
    }
    return { healthy: true, detail: '' };
  }

  /**
   * Stops this election for all, across restarts, until {@link resume}: the leader drains and joins the queue again,
   * and nobody claims. It takes the place of a transfer that was asked for before. A leader that is frozen or cut off
   * doesn't hear of it: until its lease is over only a guard at the resource stops it.
   *
   * @throws {AlreadyPausedError} {@link UnknownElectionError} {@link InvalidOptionError} {@link TermRecordError};
   *   `options.signal.reason` when aborted; {@link ClosedError} after `close()`
   */
  pause(options: ControlOptions): Promise<Pause> {
    return this.#control('pause', options, [], (controls, signal) => controls.pause(options, signal));
  }

  /** Ends a pause: the first candidate claims. @throws {NotPausedError}, and as {@link pause} */
  resume(options: ControlOptions): Promise<void> {
    return this.#control('resume', options, [], (controls, signal) => controls.resume(options, signal));
  }

  /**
   * Asks for another leader: the present one drains, and the candidates before the target join again behind it.
   * Resolves once that is asked for; `observe()` shows when it is done. It ends with the target's claim, and is void
   * when the target leaves or the deadline passes. A later transfer, or a pause, takes its place.
   *
   * @throws {TransferRefusedError} the target leads, stands more than 16 places back or behind a candidate of another
   *   library, or the election is paused
   * @throws {UnknownCandidateError} {@link AmbiguousCandidateError} {@link ForeignQueueError}, and as {@link pause}
   */
  transfer(options: TransferOptions): Promise<Transfer> {
    const keys = ['to', 'deadlineMs'] as const;
    return this.#control('transfer', options, keys, (controls, signal) => controls.transfer(options, signal));
  }

  /**
   * Takes a candidate's node out of the queue: a ghost, whose process is gone but whose session lives, or a candidate
   * of another library. A leader loses its term at once, and its successor is patient. A candidate of Tenure that
   * lives joins again at the end.
   *
   * @throws {UnknownCandidateError} {@link AmbiguousCandidateError}, and as {@link pause}
   */
  evict(options: EvictOptions): Promise<Evicted> {
    return this.#control('evict', options, ['node'], (controls, signal) => controls.evict(options, signal));
  }

  /** What is added to a node's transaction id to make a token. 0 until it is raised. @throws {UnknownElectionError}, and as {@link current} */
  floor(options: { readonly signal?: AbortSignal } = {}): Promise<bigint> {
    return this.#control('floor', options, null, (controls, signal) => controls.floor(signal));
  }

  /**
   * Raises the floor, after an ensemble was restored from a backup or rebuilt: every token from now on is above `to`. A
   * leader whose token isn't drains and joins again. It never goes down again.
   *
   * @returns the new floor
   * @throws {FloorTooLowError} {@link ForeignQueueError}, and as {@link pause}, but that the election need not exist yet
   */
  raiseFloor(options: RaiseFloorOptions): Promise<bigint> {
    return this.#control('raiseFloor', options, ['to'], (controls, signal) => controls.raiseFloor(options, signal));
  }

  /**
   * The last 50 terms that have ended and changes by operators, oldest first. It is written beside the elections and
   * decides nothing: an entry may be missing, or know less than others.
   *
   * @throws {UnknownElectionError}, and as {@link current}
   */
  history(options: { readonly signal?: AbortSignal } = {}): Promise<readonly HistoryEntry[]> {
    return this.#control('history', options, null, (controls, signal) => controls.history(signal));
  }

  /**
   * Keeps this process from leading this election, without a word to the ensemble: a leader drains at once, candidates
   * leave the queue and join again when all holds are released. See {@link Tenure.hold} for all elections.
   *
   * @returns how to release it
   * @throws {InvalidOptionError}
   */
  hold(options: HoldOptions): Cancel {
    return this.#commons.holds.hold(this.name, checkHold(options));
  }

  /** Why this process is kept from leading this election, or null. */
  get held(): string | null {
    return this.#commons.holds.reason(this.name);
  }

  /** @internal Reads how long the queue is, and `who` leads it, once, for metrics; null while there is no session. */
  async census(who: boolean): Promise<Census | null> {
    const { current } = this.#commons.membership;
    if (current === null || current.session.state !== 'connected') return null;
    return takeCensus(current.session, this.#contest.paths.queue, who);
  }

  /** `byHand`: the worker that holds it has nothing to recover first. */
  #campaign(signal: AbortSignal | undefined, wait: boolean, byHand: boolean): Promise<Term | null> {
    const stop = this.#commons.stops.orClosing(signal);
    return campaignUntilWon(this.#commons, this.#contest, { drainTimeoutMs: this.#drainTimeoutMs, wait, byHand }, stop);
  }

  /** `keys` are those besides who, why and signal; null where nobody is asked who and why. */
  async #control<T>(
    what: string,
    options: { readonly signal?: AbortSignal },
    keys: readonly string[] | null,
    act: (controls: Controls, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    checkKeys(what, options, keys === null ? ['signal'] : ['by', 'reason', 'signal', ...keys]);
    abortSignal('signal', options.signal);
    const { host, membership, chronicle } = this.#commons;
    return act(new Controls(host, membership, chronicle, this.#contest), this.#stop(options.signal));
  }

  #stop(signal: AbortSignal | undefined): AbortSignal {
    const { closing } = this.#commons;
    // Always one of our own: thousands of elections may share one signal, which would warn of that many listeners.
    return anyOf([signal, closing]);
  }
}
