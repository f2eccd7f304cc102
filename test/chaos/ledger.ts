import pg from 'pg';
import type { FencedTerm, FencingObserver } from '../../src/fencing/index.js';
import { type PostgresGuard, postgresGuard } from '../../src/fencing/postgres.js';
import { type Tasks, tasks } from '../../src/fencing/tasks.js';
import type { Batch, Write } from '../../src/verify/history.js';
import type { Ledger } from '../../src/verify/ledger.js';

const RESOURCE = 'ledger';

/** In PostgreSQL, behind its guard and with the tasks beside it. */
export class PostgresLedger implements Ledger {
  readonly #pool: pg.Pool;
  readonly #guard: PostgresGuard<pg.PoolClient>;
  readonly #tasks: Tasks<pg.PoolClient>;

  constructor(config: pg.PoolConfig, observer?: FencingObserver) {
    this.#pool = new pg.Pool({ ...config, max: 3 });
    // An idle connection that breaks is replaced at the next use: that is when its error counts.
    this.#pool.on('error', () => {});
    const observed = observer === undefined ? {} : { observer };
    this.#guard = postgresGuard({ pool: this.#pool }, observed);
    this.#tasks = tasks({ guard: this.#guard, resource: RESOURCE });
  }

  async open(): Promise<void> {
    await this.#tasks.migrate();
    await this.#pool.query(`
      CREATE TABLE write (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL, who text NOT NULL, token bigint NOT NULL);
      CREATE TABLE effect (batch text NOT NULL, who text NOT NULL, token bigint NOT NULL);
    `);
  }

  async write(term: FencedTerm, who: string, key: string): Promise<void> {
    await this.#guard.transaction(term, RESOURCE, (tx) =>
      tx.query('INSERT INTO write (key, who, token) VALUES ($1, $2, $3)', [key, who, term.token.toString()]),
    );
  }

  async batch(term: FencedTerm, key: string, who: string): Promise<boolean> {
    let did = false;
    await this.#tasks.runOnce(term, key, async (tx) => {
      await tx.query('INSERT INTO effect (batch, who, token) VALUES ($1, $2, $3)', [key, who, term.token.toString()]);
      did = true;
      return who;
    });
    return did;
  }

  /** In the order in which they were accepted: the fence admits one term's transactions at a time, and numbers grow. */
  async writes(): Promise<Write[]> {
    const { rows } = await this.#pool.query('SELECT id::int, key, who, token::text FROM write ORDER BY id');
    return rows.map(({ id, key, who, token }) => ({ order: id, key, who, token }));
  }

  /** All batches that had an effect, or are said to be done. */
  async batches(): Promise<Batch[]> {
    const { rows } = await this.#pool.query(`
      SELECT coalesce(e.batch, t.key) AS key, coalesce(e.times, 0)::int AS times
      FROM (SELECT batch, count(*) AS times FROM effect GROUP BY batch) e
      FULL JOIN (SELECT key FROM tenure.task WHERE done_at IS NOT NULL) t ON t.key = e.batch`);
    return rows;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
