import type { NodeChange } from '../../election/port.js';
import type { ServerAddress } from '../servers.js';
import type { Credential } from '../session-options.js';
import type { Handle, HandleFactory, Reply } from './addon.js';
import { CLOSING, CONNECTION_LOSS, INVALID_STATE, NO_AUTH, NO_NODE, OK, SESSION_EXPIRED } from './codes.js';
import { Connection, deliver, type Identity } from './connection.js';

/** What a {@link Link} tells: each call from its own turn of the event loop, in order of arrival. */
export interface LinkEvents {
  connected(identity: Identity, timeoutMs: number): void;
  disconnected(): void;
  /** The ensemble has ended the session: the C client's code. */
  ended(code: number): void;
  node(path: string, change: NodeChange): void;
  /** Connected again, but through a new client: the watches that the old one held have no successors. */
  watchesLost(): void;
}

/** How an operation ends: with the server's code and results, or with a code of the client's. */
type Settle<A extends unknown[]> = (code: number, results: A | null) => void;

/** Pause before an attempt to connect is repeated that failed at once. */
const RETRY_MS = 200;

/** Nobody creates it. */
const NOWHERE = '/tenure-nowhere-8c1b52d0f7';

/**
 * One session's connection, kept over as many C clients as it takes, and the account of the operations under way: the
 * addon calls back for none of them after its end.
 *
 * A client has to be replaced when an operation's own attempt to send runs into a connection that the server has just
 * dropped. The C client closes its socket then, outside of the addon's loop: libuv aborts the process over the
 * descriptor, or mistakes another connection for it, unless the client is closed before the loop turns.
 */
export class Link {
  readonly #create: HandleFactory;
  readonly #events: LinkEvents;
  readonly #credentials: readonly Credential[];
  readonly #pending = new Set<Settle<never>>();
  #connection: Connection;
  #addresses: readonly ServerAddress[] = [];
  #sessionTimeoutMs = 0;
  #identity: Identity | null = null;
  /** A new client on an old session may be served the past: nothing is read before a write was confirmed. */
  #catchingUp = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(create: HandleFactory, credentials: readonly Credential[], events: LinkEvents) {
    this.#create = create;
    this.#credentials = credentials;
    this.#events = events;
    this.#connection = this.#connect();
  }

  /** Begins to connect, for ever, until `close()`. */
  start(addresses: readonly ServerAddress[], sessionTimeoutMs: number): void {
    this.#addresses = addresses;
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#dial(0);
  }

  /** Goes on with other addresses; not while connected. */
  move(addresses: readonly ServerAddress[]): void {
    // Connected by now, unknown to us yet: closing this client would end a session that is well.
    if (this.#closed || this.#connection.connected) return;
    this.#addresses = addresses;
    this.#replace();
  }

  /** Sends an operation, at once. It always settles, in a turn of its own unless it is refused at once. */
  call<A extends unknown[]>(send: (handle: Handle, reply: Reply<A>) => number, settle: Settle<A>): void {
    if (this.#catchingUp) {
      deliver(() => settle(CONNECTION_LOSS, null));
      return;
    }
    const connection = this.#connection;
    const queued = send(connection.handle, (code, _text, ...results) =>
      deliver(() => {
        // "Closing" is the addon clearing up; who closed it settles what is pending. "Expired" may come ahead of the event
        // that says so: what it fails is settled behind that.
        if (code !== CLOSING && code !== SESSION_EXPIRED && this.#pending.delete(settle)) settle(code, results);
      }),
    );
    // Unless it was queued the callback never comes. In an invalid state the client has ended, and the event that says so is under way.
    if (queued === OK || queued === INVALID_STATE) this.#pending.add(settle);
    else settle(queued, null);
    if (connection.broken) this.#replace();
  }

  /** Ends the session if connected, and settles all operations with "closing". */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#connection.close();
    this.#failPending(CLOSING);
  }

  #failPending(code: number): void {
    for (const settle of this.#pending) deliver(() => settle(code, null));
    this.#pending.clear();
  }

  #connect(): Connection {
    const ours = (task: () => void): void => {
      if (!this.#closed && connection === this.#connection) task();
    };
    const connection: Connection = new Connection(this.#create, {
      connected: (identity, timeoutMs) => ours(() => this.#connected(identity, timeoutMs)),
      disconnected: () => ours(() => this.#events.disconnected()),
      ended: (code) => ours(() => this.#ended(code)),
      node: (path, change) => ours(() => this.#events.node(path, change)),
    });
    return connection;
  }

  /** Starts the present client; when that fails at once, a new one with the next address in front. */
  #dial(turn: number): void {
    const first = turn % this.#addresses.length;
    const rotated = [...this.#addresses.slice(first), ...this.#addresses.slice(0, first)];
    if (this.#connection.start(rotated, this.#sessionTimeoutMs, this.#identity)) return;
    this.#connection.close();
    this.#retry = setTimeout(() => {
      this.#connection = this.#connect();
      this.#dial(turn + 1);
    }, RETRY_MS);
  }

  #replace(): void {
    clearTimeout(this.#retry);
    this.#connection.close();
    this.#connection = this.#connect();
    this.#catchingUp = this.#identity !== null;
    deliver(() => {
      if (!this.#closed) this.#events.disconnected();
    });
    this.#failPending(CONNECTION_LOSS);
    this.#dial(0);
  }

  #connected(identity: Identity, timeoutMs: number): void {
    if (this.#identity !== null && identity.id !== this.#identity.id) {
      // Another session than the one that was asked for: ours is no more.
      this.#connection.close();
      this.#ended(SESSION_EXPIRED);
      return;
    }
    this.#identity = identity;
    if (this.#catchingUp) this.#catchUp(timeoutMs);
    else this.#events.connected(identity, timeoutMs);
  }

  #ended(code: number): void {
    this.#closed = true;
    this.#events.ended(code);
    this.#failPending(SESSION_EXPIRED);
  }

  /**
   * Has a write confirmed through this server, which then knows all that the session has seen before. The removal of a
   * node that doesn't exist is refused only after it went through the quorum, like any write.
   */
  #catchUp(timeoutMs: number): void {
    const connection = this.#connection;
    for (const { scheme, credential } of this.#credentials) connection.handle.add_auth(scheme, credential, () => {});
    connection.handle.a_delete_(NOWHERE, -1, (code) =>
      deliver(() => {
        if (this.#closed || connection !== this.#connection || this.#identity === null) return;
        if (code === NO_NODE || code === NO_AUTH) {
          this.#catchingUp = false;
          this.#events.connected(this.#identity, timeoutMs);
          this.#events.watchesLost();
        } else if (connection.connected) {
          this.#retry = setTimeout(() => this.#catchUp(timeoutMs), RETRY_MS);
        }
      }),
    );
    if (connection.broken) this.#replace();
  }
}
