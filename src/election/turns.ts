/** How many candidacies of one session may be joining, claiming or leaving at the same time. */
const AT_ONCE = 64;

/**
 * Lets so many tasks run at once, first come first served. A session's operations are answered one
 * after another: if thousands of elections joined, or were won, in one go, a renewal would wait
 * behind all of them, and every lease of the session would run out meanwhile.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce = AT_ONCE) {
    this.#free = atOnce;
  }

  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      // Handed on, not given back: nobody who comes now may overtake those who wait.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
