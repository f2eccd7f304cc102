import type { Clock } from '../lease/clock.js';

/** So many go in turn for each of the last, where both wait: a stream without an end keeps nobody waiting for ever. */
const IN_TURN_FOR_ONE_LAST = 32;

/** How many turns run at once, and by what that is judged. */
export interface Pace {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** So many in any case. */
  readonly least: number;
  readonly most: number;
  /** Milliseconds that a turn may take: while they are shorter more are let through, and fewer when they are longer. */
  readonly turnMs: number;
}

/**
 * Lets so many tasks run at once, first come first served. A session's operations are answered one
 * after another: if thousands of elections joined, or were won, in one go, a renewal would wait
 * behind all of them, and every lease of the session would run out meanwhile.
 *
 * With a {@link Pace} it is as many as keep turns, and so whatever else is asked for, within a time: a fast ensemble is
 * kept busy, and nobody waits long on a slow one.
 */
export class Turns {
  readonly #pace: Pace | null;
  readonly #waiting = new Line();
  /** Of those whom it does no harm to wait for others. */
  readonly #last = new Line();
  #allowed: number;
  #running = 0;
  #sinceLast = 0;

  constructor(atOnce: number | Pace) {
    this.#pace = typeof atOnce === 'number' ? null : atOnce;
    this.#allowed = typeof atOnce === 'number' ? atOnce : atOnce.least;
  }

  /** Runs the task when its turn comes; `last`: behind those that come in turn, but for one now and then. */
  async take<T>(task: () => Promise<T>, place: 'in_turn' | 'last' = 'in_turn'): Promise<T> {
    // Nobody who comes now may overtake those who wait.
    if (this.#running < this.#allowed && this.#waiting.empty && this.#last.empty) this.#running += 1;
    else await new Promise<void>((resolve) => (place === 'last' ? this.#last : this.#waiting).push(resolve));
    const begin = this.#pace?.clock.monotonic() ?? 0;
    try {
      return await task();
    } finally {
      this.#running -= 1;
      if (this.#pace !== null) this.#adapt(this.#pace, begin);
      this.#next();
    }
  }

  #adapt({ clock, least, most, turnMs }: Pace, begin: number): void {
    const short = clock.monotonic() - begin <= turnMs;
    // Fewer much sooner than more: those that run already are all in the way of a renewal.
    this.#allowed = short ? Math.min(most, this.#allowed + 1) : Math.max(least, Math.floor(this.#allowed * 0.9));
  }

  #next(): void {
    // With a pace the next go together, once half of a window has ended: a server does many of a kind at a stretch in much
    // less time than one whenever another is done, as it then sleeps between them, and turns from writing to reading and back.
    const few = this.#pace === null ? this.#allowed - 1 : this.#allowed / 2;
    if (this.#running > few) return;
    while (this.#running < this.#allowed) {
      const next = this.#pick();
      if (next === undefined) return;
      this.#running += 1;
      next();
    }
  }

  #pick(): (() => void) | undefined {
    const next = this.#sinceLast < IN_TURN_FOR_ONE_LAST ? this.#waiting.shift() : undefined;
    if (next !== undefined) {
      this.#sinceLast += 1;
      return next;
    }
    this.#sinceLast = 0;
    return this.#last.shift() ?? this.#waiting.shift();
  }
}

/** First in, first out; taking one out of an array of thousands would move all the others. */
class Line {
  #waiting: (() => void)[] = [];
  #served = 0;

  get empty(): boolean {
    return this.#waiting.length === 0;
  }

  push(resolve: () => void): void {
    this.#waiting.push(resolve);
  }

  shift(): (() => void) | undefined {
    const next = this.#waiting[this.#served];
    if (next === undefined) return undefined;
    this.#served += 1;
    if (this.#served === this.#waiting.length) {
      this.#waiting = [];
      this.#served = 0;
    }
    return next;
  }
}
