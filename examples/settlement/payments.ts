import type pg from 'pg';
import { CLEARING, MERCHANTS } from './bank.js';

const EVERY_MS = 100;

/** Payments that come in all the time, a few at once. */
export class Payments {
  readonly #pool: pg.Pool;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  start(): void {
    const next = (): void => {
      const startedAt = performance.now();
      this.#running = this.#pay(1 + Math.floor(Math.random() * 5)).then(
        () => {
          if (this.#timer !== undefined)
            this.#timer = setTimeout(next, Math.max(0, EVERY_MS - (performance.now() - startedAt)));
        },
        (error: Error) => {
          this.#failure = error;
        },
      );
    };
    this.#timer = setTimeout(next, 0);
  }

  /** Stops, and tells the second in which the last payment arrived. */
  async stop(): Promise<number> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
    const { rows } = await this.#pool.query('SELECT max(second)::int AS second FROM payment');
    return rows[0].second;
  }

  async #pay(count: number): Promise<void> {
    const merchants = Array.from({ length: count }, () => MERCHANTS[Math.floor(Math.random() * MERCHANTS.length)]);
    const amounts = merchants.map(() => 1 + Math.floor(Math.random() * 9_999));
    await this.#pool.query(
      `WITH paid AS (
         INSERT INTO payment (merchant, amount) SELECT * FROM unnest($1::text[], $2::int[]) RETURNING amount
       ) UPDATE account SET balance = balance + (SELECT sum(amount) FROM paid) WHERE name = $3`,
      [merchants, amounts, CLEARING],
    );
  }
}
