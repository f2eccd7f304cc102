import { AsyncLocalStorage } from 'node:async_hooks';
import { InvalidOptionError } from '../errors.js';
import { type FencedTerm, whenOver } from './guard.js';
import type { SqlClient } from './postgres-schema.js';

/** The part of a `pg` Client that the guard needs. */
export interface PgClient extends SqlClient {
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** pg 8.17 and later: `I` outside of a transaction. */
  getTransactionStatus?(): string | null;
}

/** The part of a `pg` Pool that the guard needs. */
export interface PgPool {
  readonly idleCount?: number;
  connect(): Promise<PgClient & { release(destroy?: Error | boolean): void }>;
}

/**
 * A client lent for one piece of work.
 *
 * While it is lent it has no listener for errors of its connection (the pool takes its own away), and an error event without
 * a listener ends the process. The server does end connections: that is how a frozen leader lets go. So this one listens.
 */
export class Lent {
  readonly client: PgClient;
  /** Why the connection is gone, once it is. */
  broken: Error | undefined;
  readonly #giveBack: (reason: Error | undefined) => void;
  readonly #listener: (error: Error) => void;

  constructor(client: PgClient, giveBack: (reason: Error | undefined) => void) {
    this.client = client;
    this.#giveBack = giveBack;
    this.#listener = (error) => {
      this.broken ??= error;
    };
    client.on('error', this.#listener);
  }

  /** Gives the client back; `destroy` when its state is unknown, so that nobody else gets it. */
  release(destroy?: Error): void {
    const reason = this.broken ?? destroy;
    // The pool puts its own listener back before ours goes. A client that it destroys keeps ours: it may have more to say.
    this.#giveBack(reason);
    if (reason === undefined) this.client.removeListener('error', this.#listener);
  }
}

/** Where the guard's connections come from. */
export interface Source {
  /** Waits no longer than the term's owner may act, where a term is given. */
  lend(term?: FencedTerm): Promise<Lent>;
  /** Runs `work` marked as being inside a lent client, where a call from inside of it would wait for itself. */
  within<T>(work: () => T | Promise<T>): T | Promise<T>;
}

export function source(options: { pool?: PgPool; client?: PgClient }): Source {
  const { pool, client } = options;
  if (pool !== undefined && client === undefined) return new PoolSource(pool);
  if (client !== undefined && pool === undefined) return new ClientSource(client);
  throw new InvalidOptionError('pool', 'give either pool (a pg Pool) or client (a connected pg Client)');
}

class PoolSource implements Source {
  readonly #pool: PgPool;

  constructor(pool: PgPool) {
    this.#pool = pool;
  }

  within<T>(work: () => T | Promise<T>): T | Promise<T> {
    return work();
  }

  async lend(term?: FencedTerm): Promise<Lent> {
    const pending = this.#pool.connect();
    // With an idle one there is nothing to wait for: the pool hands it out at its next turn.
    const client = term === undefined || (this.#pool.idleCount ?? 0) > 0 ? await pending : await inTime(pending, term);
    return new Lent(client, (reason) => client.release(reason));
  }
}

type PoolClient = Awaited<ReturnType<PgPool['connect']>>;

async function inTime(pending: Promise<PoolClient>, term: FencedTerm): Promise<PoolClient> {
  let stop: () => void = () => undefined;
  const over = new Promise<never>((_, reject) => {
    stop = whenOver(term, reject);
  });
  try {
    return await Promise.race([pending, over]);
  } catch (error) {
    // A pool can't be told that we no longer wait: what it hands us later goes straight back.
    pending.then((client) => client.release()).catch(() => undefined);
    throw error;
  } finally {
    stop();
  }
}

/** One connection: the callers take turns, or their statements would end up in one another's transactions. */
class ClientSource implements Source {
  readonly #client: PgClient;
  readonly #inside = new AsyncLocalStorage<true>();
  #turn: Promise<void> = Promise.resolve();

  constructor(client: PgClient) {
    this.#client = client;
  }

  within<T>(work: () => T | Promise<T>): T | Promise<T> {
    return this.#inside.run(true, work);
  }

  async lend(): Promise<Lent> {
    if (this.#inside.getStore() === true) {
      throw new InvalidOptionError(
        'client',
        'a transaction inside a transaction of the same client would wait for itself: use a pool',
      );
    }
    const before = this.#turn;
    let done: () => void = () => undefined;
    this.#turn = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    return new Lent(this.#client, done);
  }
}
