import { Problem } from './problem.js';

/** A bucket of tokens: `burst` at once, `perSecond` from then on. */
export class Rate {
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #at = performance.now();

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#left = burst;
  }

  /** @throws {Problem} 429 when there have been too many */
  take(): void {
    const now = performance.now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
    if (this.#left < 1) {
      throw new Problem(429, 'too_many_requests', `more than ${this.#perSecond} changes a second: slow down`, {
        headers: { 'retry-after': '1' },
      });
    }
    this.#left -= 1;
  }
}
