import { type LeadershipLostError, NotLeadingError, type StaleTokenError, TenureError } from '../errors.js';
import type { Cancel } from '../lease/clock.js';
import type { Token } from '../token.js';
import { checkSize, type Metadata } from './candidate.js';
import { type DrainReason, holdingState, mayAct, remainingMs, type TermState } from './holding.js';
import type { Keeper } from './keeper.js';
import { isKind } from './nodes.js';
import { encodeRecord, type PreviousTerm } from './record.js';
import { abortable } from './waiting.js';

/**
 * One leadership, from its claim to its end; never resumed once lost.
 *
 * `signal` aborts, synchronously and before anything else is told, when the term is over or must be
 * given up; its reason is a {@link LeadershipLostError}. The token is for every write to a resource
 * that checks it. Code that can't pass a token calls `assert()` right before each effect; it looks at
 * the clocks itself, so that even a process that was frozen until this very moment can't pass it late.
 */
export class Term implements AsyncDisposable {
  /** The election's name. */
  readonly election: string;
  /** 1, 2, 3, … per election. */
  readonly number: number;
  /** The fencing token: higher than that of every earlier term. */
  readonly token: Token;
  /** Who leads: the id of this candidate. */
  readonly leaderId: string;
  /** The term before this one and how it ended; null for the first. */
  readonly previous: PreviousTerm | null;
  readonly #keeper: Keeper;

  /** @internal */
  constructor(keeper: Keeper) {
    this.#keeper = keeper;
    this.election = keeper.election;
    this.number = keeper.number;
    this.token = keeper.token;
    this.leaderId = keeper.leaderId;
    this.previous = keeper.previous;
  }

  /** Aborted when the leadership is lost or must be given up; its reason is a {@link LeadershipLostError}. */
  get signal(): AbortSignal {
    return this.#keeper.signal;
  }

  /** Where it stands: `recovering` until the worker starts, and `lost` at the end. */
  get state(): TermState {
    return holdingState(this.#keeper.holding);
  }

  /** Milliseconds that the lease still has, 0 once the term is lost. Reads the clocks. */
  remainingMs(): number {
    return remainingMs(this.#keeper.holding, this.#keeper.now());
  }

  /**
   * Returns only if this term's lease holds at this moment and nothing has happened since its last
   * renewal that would make that doubtful.
   *
   * @throws {LeadershipLostError} when the term is over
   * @throws {NotLeadingError} while it is suspect: `await term.whenLeading()`, or give up
   */
  assert(): void {
    const now = this.#keeper.now();
    if (mayAct(this.#keeper.holding, now)) return;
    // The timer that should have noticed is late: this process was paused, and is told here.
    if (remainingMs(this.#keeper.holding, now) === 0) this.#keeper.dispatch({ type: 'alarm' }, now);
    const { holding } = this.#keeper;
    if (holding.name === 'lost') throw this.#keeper.lossError(holding.reason);
    throw new NotLeadingError(
      `${this.#keeper.name} is suspect (${holding.doubt?.reason.replaceAll('_', ' ')}): ` +
        'a renewal must be confirmed before anything may be written',
    );
  }

  /**
   * Resolves as soon as the term is (or is again) free of doubt.
   *
   * @throws {LeadershipLostError} when it is over or has to be given up
   */
  async whenLeading(): Promise<void> {
    if (this.#keeper.loss !== null) throw this.#keeper.loss;
    if (this.state === 'leading' || this.state === 'recovering') return;
    await abortable<void>(this.signal, (resolve) => {
      const stop = [this.on('leading', resolve), this.on('recovering', resolve)];
      return () => {
        for (const each of stop) each();
      };
    });
  }

  /**
   * Calls the listener whenever the term enters that state, after `signal` has been aborted where that goes with it.
   *
   * @returns how to stop that
   */
  on(state: TermState, listener: () => void): Cancel {
    return this.#keeper.on(state, listener);
  }

  /**
   * Replaces the metadata that the record shows for this term.
   *
   * @throws {CandidateTooLargeError} when id and metadata take more than 8 KiB of JSON
   * @throws {LeadershipLostError} {@link NotLeadingError} as `assert()` does
   */
  async update(metadata: Metadata): Promise<void> {
    checkSize(this.leaderId, metadata);
    for (;;) {
      this.assert();
      const { record } = this.#keeper.view;
      const { latest } = record;
      if (latest === null || latest.token !== this.token) throw this.#keeper.lossError('superseded');
      try {
        await this.#keeper.write(encodeRecord({ ...record, latest: { ...latest, metadata } }));
        return;
      } catch (error) {
        // Somebody else changed the record, or the reply was lost: look again, and write again.
        if (!isKind(error, 'bad_version') && !(error instanceof TenureError && error.retriable)) throw error;
        await this.#keeper.readAgain();
      }
    }
  }

  /**
   * Gives the leadership up, saying that the work has stopped: the successor leads within milliseconds.
   * Resolves when that is certain to be known, the session is dead, or no server has answered for a session timeout:
   * then the node goes as soon as one does, or with the session. Never rejects. Idempotent.
   */
  async resign(): Promise<void> {
    this.#keeper.resign();
    await this.#keeper.released;
  }

  /**
   * Called by guards: a resource refused this term's token although its lease is good, so tokens have gone backwards.
   * Said loudly, once; `lead` then rejects with {@link TokenRegressedError} if its worker lets the refusal through.
   */
  refused(error: StaleTokenError): void {
    this.#keeper.refused(error.highest);
  }

  /** `await using term = …`: resigns at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.resign();
  }

  /** @internal The recover stage is over. */
  recovered(): void {
    this.#keeper.recovered();
  }

  /** @internal Asks the worker to finish; the leadership is given up when it has, or when its time to drain is over. */
  drain(why: DrainReason): void {
    this.#keeper.dispatch({ type: 'drain', why });
  }

  /** @internal Gives the leadership up without a word: its successor is patient. */
  abandon(): void {
    this.#keeper.dispatch({ type: 'release', settled: false });
  }

  /** @internal How long it has led, or had when it ended, in milliseconds. */
  get ledMs(): number {
    return this.#keeper.ledMs;
  }

  /** @internal How long the term has been over, in milliseconds; 0 while it isn't. */
  get overForMs(): number {
    return this.#keeper.overForMs;
  }

  /** @internal See {@link resign}. */
  get released(): Promise<void> {
    return this.#keeper.released;
  }
}
