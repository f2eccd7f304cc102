import { InvalidOptionError, NotLeadingError } from '../errors.js';
import { formatToken, type Token } from '../token.js';
import type { FencedTerm } from './guard.js';

/** The most milliseconds that a timer can carry, here or in a store. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Refuses limits that a timer would take for 1 ms: no number, or above 2^31 - 1.
 *
 * @throws {InvalidOptionError}
 */
export function checkTimes(
  caller: string,
  least: number,
  times: { timeoutMs: number; waitMs: number | undefined },
): void {
  check('timeoutMs', times.timeoutMs, least);
  if (times.waitMs !== undefined) check('waitMs', times.waitMs, 0);

  function check(option: string, value: unknown, from: number): void {
    if (typeof value === 'number' && value >= from && value <= MAX_MS) return;
    throw new InvalidOptionError(
      option,
      `${caller}: ${option} ${String(value)} must be a number of milliseconds from ${from} to ${MAX_MS}`,
    );
  }
}

/** Options of {@link presenter}. */
export interface PresenterOptions {
  /** Who presents the token, for people who read refusals. */
  holder?: string | undefined;
  /** The longest that a hold may last, in milliseconds. Default 10,000. */
  timeoutMs?: number | undefined;
  /** The longest to wait for older holds, in milliseconds. Default `timeoutMs` + 2,000: an older hold that is just as long has ended by then. */
  waitMs?: number | undefined;
  /** Ends it early. */
  signal?: AbortSignal | undefined;
}

/** A {@link FencedTerm} without an election behind it. */
export class PresentedTerm implements FencedTerm {
  readonly token: Token;
  readonly leaderId: string | undefined;
  readonly leaseKnown = false;
  readonly holdLimitMs: number;
  readonly #deadline: number;
  #given: AbortSignal | undefined;
  #own: AbortController | undefined;
  #ended: { reason: unknown } | undefined;

  constructor(token: Token, options: PresenterOptions = {}) {
    formatToken(token);
    const { holder, timeoutMs = 10_000, waitMs = timeoutMs + 2_000, signal } = options;
    checkTimes('presenter', 0, { timeoutMs, waitMs: options.waitMs });
    this.token = token;
    this.leaderId = holder;
    this.holdLimitMs = timeoutMs;
    this.#deadline = performance.now() + waitMs + timeoutMs;
    this.#given = signal;
  }

  /** Made only when somebody asks for it: most requests are over before anybody does. */
  get signal(): AbortSignal {
    if (this.#given === undefined) {
      this.#own = new AbortController();
      this.#given = this.#own.signal;
      if (this.#ended !== undefined) this.#own.abort(this.#ended.reason);
    }
    return this.#given;
  }

  remainingMs(): number {
    return this.#deadline - performance.now();
  }

  assert(): void {
    if (this.#ended !== undefined) throw this.#ended.reason;
    this.#given?.throwIfAborted();
    if (this.remainingMs() <= 0) throw new NotLeadingError(`the time for presenting token ${this.token} is over`);
  }

  /** From now on `assert()` throws the reason; the signal is aborted. */
  end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#own?.abort(reason);
  }
}

/**
 * Stands in for a term where there is none at hand: a server that was handed a token, an operator who raises the fence.
 * `assert()` throws {@link NotLeadingError} once `waitMs` and `timeoutMs` have passed, or the signal's reason.
 */
export function presenter(token: Token, options: PresenterOptions = {}): FencedTerm {
  return new PresentedTerm(token, options);
}
