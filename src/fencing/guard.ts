import { StaleTokenError } from '../errors.js';
import type { Token } from '../token.js';
import { FenceBusyError, InvalidResourceError } from './errors.js';
import { everyTick } from './ticker.js';

/**
 * What a guard needs of a term. Tenure's own `Term` is one; so is anything that carries a token and
 * can say how long its owner may still act.
 */
export interface FencedTerm {
  /** The fencing token. */
  readonly token: Token;
  /** Aborted when the term is over or about to be: work should come to its end. Writing on is up to `assert()`. */
  readonly signal: AbortSignal;
  /** Kept at the resource beside the token, so that a refusal can say who leads now. */
  readonly leaderId?: string | undefined;
  /**
   * False where `remainingMs()` is a time limit of the receiver's and not the presenter's lease, as
   * in a server that was handed a token: then a refusal is never counted as `regressed`. Default true.
   */
  readonly leaseKnown?: boolean | undefined;
  /**
   * The longest that a hold may last, in milliseconds, where that is less than what remains; the rest may then be spent on waiting
   * for older holds. Default: no such limit.
   */
  readonly holdLimitMs?: number | undefined;
  /** Milliseconds that the owner may still act; 0 or less when it may not. Bounds every wait and every hold. */
  remainingMs(): number;
  /** Throws when the owner may not act now. Called before each write, and again before each commit. */
  assert(): void;
  /** Called when the token was refused although the lease is good: tokens have gone backwards. */
  refused?(error: StaleTokenError): void;
}

/** The highest token that a resource has accepted. */
export interface Accepted {
  /** The highest token that has been accepted. */
  readonly token: Token;
  /** Who presented it, where that was said. */
  readonly holder: string | undefined;
}

/**
 * The check at the resource. Every guard keeps this:
 *
 * - The highest accepted token is kept at the resource, durably, and compared in the same atomic
 *   step as the write. Equal tokens are accepted, lower ones refused with {@link StaleTokenError}.
 * - It orders *terms*, not the writes of one term: two writes with one token, or a delayed retry
 *   within a term, are the writer's to order (an idempotency key does).
 * - Tokens are exact up to 2^63 − 1.
 */
export interface Guard<Context> {
  /**
   * Accepts the term's token, then runs `work`; until that settles no newer token is accepted.
   * Several holds of one token may run side by side. A hold is bounded by what remains of the lease when it begins:
   * after that newer terms get through, and what is left of the older one's work is refused.
   *
   * @throws {StaleTokenError} a higher token has been accepted.
   * @throws {InvalidResourceError} the name breaks a rule of {@link checkResource}.
   * @throws {FenceBusyError} an older hold did not end in time.
   */
  hold<T>(term: FencedTerm, resource: string, work: (context: Context) => T | Promise<T>): Promise<T>;

  /**
   * Accepts the token without a write: from then on every older term is refused. A new leader's first
   * act at a resource, and an operator's way to fence off a leader that can't hear.
   *
   * @throws as {@link Guard.hold}
   */
  check(term: FencedTerm, resource: string): Promise<void>;

  /** The highest accepted token, or null where none has been. For people and tests: true only for the past. */
  highest(resource: string): Promise<Accepted | null>;
}

/**
 * `accepted`; `stale`: refused, the presenter's lease was over or isn't known here; `regressed`: refused
 * although the presenter's lease is good, so tokens went backwards (an ensemble restored without
 * `tenure fence raise`); `missing`: nothing was presented.
 */
export type FenceOutcome = 'accepted' | 'stale' | 'regressed' | 'missing';

/** Told what guards and tasks do, for metrics. Called synchronously; what it throws is dropped. */
export interface FencingObserver {
  /** Once for each check that came to a verdict. */
  check?(resource: string, outcome: FenceOutcome): void;
  /** A task was asked for again: its effect was `suppressed`, or it had been left unfinished and part of it may be `executed` again. */
  duplicate?(outcome: 'executed' | 'suppressed', key: string): void;
  /** When a scheduled job last succeeded, in milliseconds since 1970; 0 for one that never has. Told at the start of a term too. */
  lastSuccess?(job: string, atMs: number): void;
  /** An attempt at one period of a scheduled job failed; `final` when there will be no other. */
  failed?(job: string, error: unknown, final: boolean): void;
}

/** The longest name of a resource, in bytes of UTF-8. */
export const MAX_RESOURCE_BYTES = 512;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be refused
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** What most names are: nothing in it to look at twice. */
const PLAIN = /^[\x20-\x7e]{1,512}$/;

/**
 * Returns the name of a resource if every store can keep it, unchanged: 1 to 512 bytes of UTF-8, well formed, without
 * control characters. Names are compared byte by byte: nothing is trimmed, folded or normalised.
 *
 * @throws {InvalidResourceError} naming the rule.
 */
export function checkResource(resource: string): string {
  if (typeof resource !== 'string' || resource === '')
    throw new InvalidResourceError(
      `a resource's name must be a non-empty string, not ${String(resource) || 'an empty one'}`,
    );
  if (PLAIN.test(resource)) return resource;
  const shown = JSON.stringify(resource.slice(0, 60));
  if (CONTROL.test(resource))
    throw new InvalidResourceError(`a resource's name must have no control characters: ${shown}`);
  if (!isWellFormed(resource))
    throw new InvalidResourceError(`a resource's name must be well-formed Unicode: ${shown}`);
  const bytes = Buffer.byteLength(resource);
  if (bytes > MAX_RESOURCE_BYTES) {
    throw new InvalidResourceError(
      `a resource's name must have at most ${MAX_RESOURCE_BYTES} bytes, not ${bytes}: ${shown}…`,
    );
  }
  return resource;
}

function isWellFormed(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) return false;
  }
  return true;
}

/** Whether to count a refusal as `stale` or as `regressed`. */
export function refusal(term: FencedTerm): 'stale' | 'regressed' {
  return term.leaseKnown !== false && !term.signal.aborted && term.remainingMs() > 0 ? 'regressed' : 'stale';
}

/** Tells the observer of a refusal; and of a `regressed` one the term, whose owner has to report it. */
export function tellRefusal(observer: FencingObserver | undefined, term: FencedTerm, error: StaleTokenError): void {
  const outcome = refusal(term);
  tell(() => observer?.check?.(error.resource, outcome));
  if (outcome === 'regressed') tell(() => term.refused?.(error));
}

/** Calls one of the observer's methods; an observer that throws can't break a guard. */
export function tell(call: () => void): void {
  try {
    call();
  } catch {
    // An instrument's trouble is never the resource's.
  }
}

/** Whole milliseconds that a hold begun now may last. At least 1; at most what a 32-bit timer can carry. */
export function holdMs(term: FencedTerm): number {
  return atLeastOne(Math.min(term.remainingMs(), term.holdLimitMs ?? Number.POSITIVE_INFINITY));
}

/** Milliseconds that may be spent on waiting for older holds. */
export function waitMs(term: FencedTerm): number {
  return term.remainingMs() - (term.holdLimitMs ?? 0);
}

/** As whole milliseconds that a timer, here or in a store, can carry: 1 to 2^31 - 1. */
export function atLeastOne(ms: number): number {
  return Math.min(2 ** 31 - 1, Math.max(1, Math.floor(ms)));
}

/**
 * Repeats `attempt` while it says `busy`: an older hold is still there. Backs off from 2 to 50 ms.
 *
 * @throws {FenceBusyError} when the presenter's time is over first.
 */
export async function untilFree<T>(term: FencedTerm, resource: string, attempt: () => Promise<T | 'busy'>): Promise<T> {
  for (let pause = 2; ; pause = Math.min(50, pause * 1.6)) {
    term.assert();
    const result = await attempt();
    if (result !== 'busy') return result;
    const left = waitMs(term);
    if (left <= 0) throw new FenceBusyError(resource);
    await sleep(Math.min(pause, left));
    if (term.remainingMs() <= 0) throw new FenceBusyError(resource);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Calls `over` once, with the reason, when the term's owner may no longer act. An aborted signal alone is no such reason: while a
 * leader drains its signal is aborted, and it may finish what it began until `assert()` throws. So this asks, every 100 ms.
 *
 * @returns stops watching
 */
export function whenOver(term: FencedTerm, over: (reason: unknown) => void): () => void {
  const stop = everyTick(() => {
    try {
      term.assert();
    } catch (error) {
      stop();
      over(error);
    }
  });
  return stop;
}

/** Tells the observer the verdict of one check, once. */
export class Verdict {
  readonly #observer: FencingObserver | undefined;
  readonly #term: FencedTerm;
  readonly #resource: string;
  #told = false;

  constructor(observer: FencingObserver | undefined, term: FencedTerm, resource: string) {
    this.#observer = observer;
    this.#term = term;
    this.#resource = resource;
  }

  accepted(): void {
    if (this.#told) return;
    this.#told = true;
    tell(() => this.#observer?.check?.(this.#resource, 'accepted'));
  }

  /** What ended the check; told where it is a refusal of this term at this resource. */
  ended(error: unknown): void {
    if (!(error instanceof StaleTokenError) || error.resource !== this.#resource) return;
    if (error.token !== this.#term.token || this.#told) return;
    this.#told = true;
    tellRefusal(this.#observer, this.#term, error);
  }
}
