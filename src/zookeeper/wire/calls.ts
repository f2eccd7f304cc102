import type { JuteReader } from './jute.js';

/** How a call ends. */
export type Outcome =
  /** The server has answered: `value` is what `read` made of a success. */
  | { readonly kind: 'answered'; readonly code: number; readonly value: unknown }
  /** The connection is lost; `sent` says whether the request may have reached a server. */
  | { readonly kind: 'lost'; readonly sent: boolean }
  /** The session is over. */
  | { readonly kind: 'over'; readonly sent: boolean };

/** A request under way, or waiting for a connection. */
export interface Call {
  /** Its number is filled in when it is sent. */
  readonly frame: Buffer;
  /** Reads the body of a success. @throws {MalformedError} */
  readonly read: (reader: JuteReader) => unknown;
  /** Called once, in a turn of its own. */
  readonly settle: (outcome: Outcome) => void;
}

/** Calls in order, first in, first out. */
export class Calls {
  #calls: (Call | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#calls.length - this.#head;
  }

  push(call: Call): void {
    this.#calls.push(call);
  }

  /** The first one, which stays. */
  peek(): Call | undefined {
    return this.#calls[this.#head];
  }

  shift(): Call | undefined {
    const call = this.#calls[this.#head];
    if (call === undefined) return undefined;
    this.#calls[this.#head] = undefined;
    this.#head += 1;
    // Moving the rest each time would cost as much as there are.
    if (this.#head > 1024 && this.#head * 2 > this.#calls.length) {
      this.#calls = this.#calls.slice(this.#head);
      this.#head = 0;
    } else if (this.#head === this.#calls.length) {
      this.#calls = [];
      this.#head = 0;
    }
    return call;
  }

  /** All of them, in order; none is left. */
  take(): Call[] {
    const calls = this.#calls.slice(this.#head) as Call[];
    this.#calls = [];
    this.#head = 0;
    return calls;
  }
}
