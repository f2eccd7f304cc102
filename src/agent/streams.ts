import type { ServerResponse } from 'node:http';
import { type Beat, EventStream } from './event-stream.js';
import { unavailable } from './problem.js';

const BEAT_MS = 1_000;

/** All open streams: how many there may be, and the heart that beats for all of them. */
export class Streams {
  readonly #limit: number;
  readonly #stallMs: number;
  readonly #open = new Map<EventStream, () => Beat | undefined>();
  readonly #heart: NodeJS.Timeout;

  constructor(limit: number, stallMs: number) {
    this.#limit = limit;
    this.#stallMs = stallMs;
    this.#heart = setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  /** @throws {Problem} when there are as many as there may be */
  admit(): void {
    if (this.#open.size < this.#limit) return;
    throw unavailable('too_many_streams', `${this.#limit} streams are open, as many as there may be`, 5);
  }

  /** `beat` is called for each heartbeat, and may have news to go with it; `closed` once. */
  open(response: ServerResponse, beat: () => Beat | undefined, closed: () => void): EventStream {
    const stream = new EventStream(response, this.#stallMs, () => {
      this.#open.delete(stream);
      closed();
    });
    this.#open.set(stream, beat);
    return stream;
  }

  close(): void {
    clearInterval(this.#heart);
    for (const stream of this.#open.keys()) stream.end();
  }

  #beat(): void {
    for (const [stream, beat] of this.#open) {
      stream.beat(beat());
    }
  }
}
