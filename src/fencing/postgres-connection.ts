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
  connect(): Promise<PgClient & { release(destroy?: Error | boolean): void }>;
}

/** A client lent for one piece of work. */
export interface Lent {
  readonly client: PgClient;
  /** Why the connection is gone, once it is. */
  readonly broken: Error | undefined;
  /** Gives the client back; `destroy` when its state is unknown, so that nobody else gets it. */
  release(destroy?: Error): void;
}

/** Where the guard's connections come from. */
export interface Source {
  /** Waits no longer than the term's owner may act, where a term is given. */
  lend(term?: FencedTerm): Promise<Lent>;
  /** Runs `work` marked as being inside a lent client, so that a call from inside of it that would wait for itself is seen. */
  within<T>(work: () => Promise<T>): Promise<T>;
}

export function source(options: { pool?: PgPool; client?: PgClient }): Source {
  if ((options.pool === undefined) === (options.client === undefined)) {
    throw new InvalidOptionError('pool', 'give either pool (a pg Pool) or client (a connected pg Client)');
  }
  return options.pool !== undefined ? poolSource(options.pool) : clientSource(options.client as PgClient);
}

function poolSource(pool: PgPool): Source {
  return {
    within: (work) => work(),
    async lend(term) {
      const pending = pool.connect();
      if (term === undefined) return pooled(await pending);
      let stop: () => void = () => undefined;
      const over = new Promise<never>((_, reject) => {
        stop = whenOver(term, reject);
      });
      try {
        return pooled(await Promise.race([pending, over]));
      } catch (error) {
        // A pool can't be told that we no longer wait: what it hands us later goes straight back.
        pending.then((client) => client.release()).catch(() => undefined);
        throw error;
      } finally {
        stop();
      }
    },
  };
}

function pooled(client: Awaited<ReturnType<PgPool['connect']>>): Lent {
  const watch = watchErrors(client);
  return {
    client,
    get broken() {
      return watch.broken;
    },
    release(destroy) {
      const reason = watch.broken ?? destroy;
      // The pool puts its own listener back before ours goes. A client that it destroys keeps ours: it may have more to say.
      client.release(reason);
      if (reason === undefined) watch.stop();
    },
  };
}

/** One connection: the callers take turns, or their statements would end up in one another's transactions. */
function clientSource(client: PgClient): Source {
  const inside = new AsyncLocalStorage<true>();
  let turn: Promise<void> = Promise.resolve();
  return {
    within: (work) => inside.run(true, work),
    async lend() {
      if (inside.getStore() === true) {
        throw new InvalidOptionError(
          'client',
          'a transaction inside a transaction of the same client would wait for itself: use a pool',
        );
      }
      const before = turn;
      let done: () => void = () => undefined;
      turn = new Promise((resolve) => {
        done = resolve;
      });
      await before;
      const watch = watchErrors(client);
      return {
        client,
        get broken() {
          return watch.broken;
        },
        release() {
          watch.stop();
          done();
        },
      };
    },
  };
}

/**
 * A lent client has no listener for errors of its connection (the pool takes its own away), and an
 * error event without a listener ends the process. The server does end connections: that is how a
 * frozen leader lets go.
 */
function watchErrors(client: PgClient): { readonly broken: Error | undefined; stop(): void } {
  let broken: Error | undefined;
  const listener = (error: Error) => {
    broken ??= error;
  };
  client.on('error', listener);
  return {
    get broken() {
      return broken;
    },
    stop: () => void client.removeListener('error', listener),
  };
}
