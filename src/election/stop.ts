import { anyOf } from '../signals.js';

/** What is looked at by whoever may be told to stop: an `AbortSignal`, or a {@link Stop}. */
export interface Stoppable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * A signal that thousands of candidacies hang on. An `AbortSignal` for each would weigh more than all else that is kept of a
 * candidacy; and one for all warns of so many listeners, and looks through them for each that comes or goes.
 */
export class Stop implements Stoppable {
  readonly #signal: AbortSignal;
  readonly #listeners = new Set<() => void>();

  constructor(signals: readonly AbortSignal[]) {
    // One of our own: several connections may share the caller's.
    this.#signal = anyOf(signals);
  }

  get aborted(): boolean {
    return this.#signal.aborted;
  }

  get reason(): unknown {
    return this.#signal.reason;
  }

  /** Each is called once. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listeners.size === 0) this.#signal.addEventListener('abort', this.#tell);
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
    // Nothing of ours stays with a signal that outlives us.
    this.#signal.removeEventListener('abort', this.#tell);
  }

  readonly #tell = (): void => {
    for (const listener of this.#listeners) {
      this.#listeners.delete(listener);
      try {
        listener();
      } catch (error) {
        // As of a signal's listeners: the others are told all the same.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  };
}

/** The stops of one connection: one for each signal that its callers have given, and one for those who gave none. */
export class Stops {
  readonly #closing: AbortSignal;
  readonly #none: Stop;
  readonly #of = new WeakMap<AbortSignal, { readonly alone: Stop; readonly orClosing: Stop }>();

  /** `closing`: aborted when the connection is closed. */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
    this.#none = new Stop([closing]);
  }

  /** With the signal alone. */
  of(signal: AbortSignal): Stop {
    return this.#both(signal).alone;
  }

  /** With the signal, or the end of the connection. */
  orClosing(signal: AbortSignal | undefined): Stop {
    return signal === undefined ? this.#none : this.#both(signal).orClosing;
  }

  #both(signal: AbortSignal): { readonly alone: Stop; readonly orClosing: Stop } {
    let known = this.#of.get(signal);
    if (known === undefined) {
      known = { alone: new Stop([signal]), orClosing: new Stop([signal, this.#closing]) };
      this.#of.set(signal, known);
    }
    return known;
  }
}
