import { AsyncLocalStorage } from 'node:async_hooks';
import { InvalidOptionError } from '../errors.js';
import { type FencedTerm, whenOver } from './guard.js';
import type { SqlClient } from './postgres-schema.js';
import { everyTick } from './ticker.js';

/** The part of a `pg` Client that the guard needs. */
export interface PgClient extends SqlClient {
  /** Listens for what breaks the connection: unheard, it would end the process. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Takes such a listener away. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** pg 8.17 and later: `I` outside of a transaction. */
  getTransactionStatus?(): string | null;
  /** Ends the connection at once where a statement is under way. */
  end?(): unknown;
}

/** A client that a pool has lent. */
export interface PooledPgClient extends PgClient {
  /** Gives it back; with an error or `true`, the pool destroys it. */
  release(destroy?: Error | boolean): void;
}

/** The part of a `pg` Pool that the guard needs. */
export interface PgPool {
  /** Lends a client until its `release` is called. */
  connect(): Promise<PooledPgClient>;
}

/** From the end of a term until its connection is given up, in milliseconds: the server, which ends the transaction then, is to say so. */
const GRACE_MS = 200;

/**
 * A client lent for one piece of work.
 *
 * While it is lent it has no listener for errors of its connection (the pool takes its own away), and an error event without
 * a listener ends the process. The server does end connections: that is how a frozen leader lets go. So this one listens.
 *
 * A server that hangs, or that can't be reached, ends nothing. Then it is we who give the connection up once the term is over.
 */
export class Lent {
  readonly client: PgClient;
  /** Whether nobody else can send on this connection meanwhile. */
  readonly exclusive: boolean;
  /** Why the connection is gone, once it is. */
  broken: Error | undefined;
  /** What ended the term, where the connection was given up for that. */
  over: { readonly reason: unknown } | undefined;
  readonly #giveBack: (reason: Error | undefined) => void;
  readonly #listener: (error: Error) => void;
  #released = false;
  /** Ends the wait for the statement under way. */
  #giveUp: (error: Error) => void = () => undefined;
  #stopWatching: () => void = () => undefined;

  constructor(client: PgClient, exclusive: boolean, giveBack: (reason: Error | undefined) => void) {
    this.client = client;
    this.exclusive = exclusive;
    this.#giveBack = giveBack;
    this.#listener = (error) => {
      this.broken ??= error;
    };
    client.on('error', this.#listener);
  }

  /** Gives the connection up soon after the term is over, unless the client has been given back by then. */
  watch(term: FencedTerm): void {
    let since: number | undefined;
    this.#stopWatching = everyTick(() => {
      const reason = ended(term);
      if (reason === undefined) {
        since = undefined;
        return;
      }
      since ??= performance.now();
      if (performance.now() - since < GRACE_MS) return;
      this.over = reason;
      const error = new Error('the connection was given up: the term is over, and the transaction had not ended', {
        cause: reason.reason,
      });
      this.release(error);
      this.broken ??= error;
      this.#giveUp(error);
    });
  }

  /** As the client's, but doesn't wait any longer when the connection is given up. One at a time. */
  query(text: string): ReturnType<PgClient['query']> {
    if (this.over !== undefined) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      this.client.query(text).then(resolve, reject);
    });
  }

  /** Gives the client back; `destroy` when its state is unknown, so that nobody else gets it. */
  release(destroy?: Error): void {
    this.#stopWatching();
    if (this.#released) return;
    this.#released = true;
    const reason = this.broken ?? destroy;
    // The pool puts its own listener back before ours goes. A client that it destroys keeps ours: it may have more to say.
    this.#giveBack(reason);
    if (reason === undefined) this.client.removeListener('error', this.#listener);
  }
}

/** What ended the term; undefined while there may be something left of it, if only a doubtful rest. */
function ended(term: FencedTerm): { readonly reason: unknown } | undefined {
  if (term.remainingMs() > 0) return undefined;
  try {
    term.assert();
    return undefined;
  } catch (reason) {
    return { reason };
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
    // A pool can't be told that we no longer wait: what it hands us later goes straight back.
    const client = await inTime(pending, term, (late) => late.release());
    return new Lent(client, true, (reason) => client.release(reason));
  }
}

async function inTime<T>(pending: Promise<T>, term: FencedTerm | undefined, late: (value: T) => void): Promise<T> {
  if (term === undefined) return await pending;
  let stop: () => void = () => undefined;
  const over = new Promise<never>((_, reject) => {
    stop = whenOver(term, reject);
  });
  try {
    return await Promise.race([pending, over]);
  } catch (error) {
    pending.then(late).catch(() => undefined);
    throw error;
  } finally {
    stop();
  }
}

/** One connection: the callers take turns, or their statements would end up in one another's transactions. */
class ClientSource implements Source {
  readonly #client: PgClient;
  readonly #inside = new AsyncLocalStorage<{ open: boolean }>();
  #turn: Promise<void> = Promise.resolve();

  constructor(client: PgClient) {
    this.#client = client;
  }

  within<T>(work: () => T | Promise<T>): T | Promise<T> {
    // What `work` has started and left behind keeps the mark for ever; it is worth nothing once `work` has settled.
    const mark = { open: true };
    return this.#inside.run(mark, async () => {
      try {
        return await work();
      } finally {
        mark.open = false;
      }
    });
  }

  async lend(term?: FencedTerm): Promise<Lent> {
    if (this.#inside.getStore()?.open === true) {
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
    await inTime(before, term, done);
    // Its owner has it, too.
    return new Lent(this.#client, false, (reason) => {
      // Nobody else would end it.
      if (reason !== undefined) void Promise.resolve(this.#client.end?.()).catch(() => undefined);
      done();
    });
  }
}
