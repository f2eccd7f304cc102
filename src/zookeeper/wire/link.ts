import { formatServer } from '../servers.js';
import { type Call, Calls } from './calls.js';
import { CODE, XID } from './codes.js';
import { Connection } from './connection.js';
import { Dialer, type Target } from './dialer.js';
import { type ConnectReply, type Identity, NO_SESSION } from './handshake.js';
import { type JuteReader, MalformedError } from './jute.js';
import { EXPIRE_AFTER_TIMEOUTS, MAX_REPLY_BYTES, type WireDriverOptions } from './options.js';
import { type ReplyHeader, readWatchEvent, type WatchEvent } from './replies.js';
import { authFrame } from './requests.js';
import { WatchList } from './watch-list.js';

/** Why a session is over. `unheard`: nobody said so, but no server has taken us for too long. */
export type End = 'expired' | 'auth_failed' | 'untrusted' | 'unheard' | 'closed';

/** What a {@link Link} tells: each call from its own turn of the event loop, in order of arrival. */
export interface LinkEvents {
  connected(identity: Identity, timeoutMs: number): void;
  disconnected(): void;
  ended(why: End): void;
  node(event: WatchEvent & { readonly change: NonNullable<WatchEvent['change']> }): void;
}

/** A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const MAX_XID = 2 ** 31 - 1;
/** Where a request's number stands in its frame, behind the length. */
const XID_OFFSET = 4;

/** One session's connection, kept over as many connections as it takes, and the account of what is under way. */
export class Link {
  readonly watches = new WatchList();
  readonly #options: WireDriverOptions;
  readonly #events: LinkEvents;
  readonly #dialer: Dialer;
  readonly #stop = new AbortController();
  /** Not sent yet. */
  readonly #waiting = new Calls();
  /** Sent, and answered in this order, by numbers that count up from `#answered`. */
  readonly #sent = new Calls();
  #connection: Connection | null = null;
  #phase: 'down' | 'up' | 'over' = 'down';
  #identity: Identity = NO_SESSION;
  #timeoutMs = 0;
  /** By a reply: every event of a transaction up to it has reached us before. */
  #repliedZxid = 0n;
  /** By a reply or an event. */
  #seenZxid = 0n;
  #nextXid = 1;
  #answeredXid = 0;
  /** Frames of watches that the server hasn't confirmed yet. */
  #arming = 0;
  #expiry: NodeJS.Timeout | undefined;
  #lastServer: string | null = null;
  /** Connections in a row on which a server took us and then answered nothing. */
  #fruitless = 0;

  constructor(options: WireDriverOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#dialer = new Dialer(options, this.#stop.signal);
  }

  get identity(): Identity {
    return this.#identity;
  }

  /** Which server we are on, or were last. */
  get server(): string | null {
    return this.#lastServer;
  }

  /** What became of each server when it was last tried in vain, as text for a message. */
  get failures(): string {
    return [...this.#dialer.failures].map(([server, error]) => `${server}: ${error.message}`).join('; ');
  }

  /** Begins to connect, for ever, until `close()`. @throws {NameResolutionError} */
  async start(): Promise<void> {
    await this.#dialer.resolve();
    void this.#dial();
  }

  /** Sends a request, at once or as soon as a server has taken us. It always settles, in a turn of its own. */
  call(call: Call): void {
    if (this.#phase === 'over') setImmediate(() => call.settle({ kind: 'over', sent: false }));
    else if (this.#phase === 'up') this.#send(call);
    else this.#waiting.push(call);
  }

  /** Ends the connection, not the session, and settles everything. */
  close(): void {
    this.#finish('closed');
  }

  #send(call: Call): void {
    call.frame.writeInt32BE(this.#nextXid, XID_OFFSET);
    this.#nextXid = next(this.#nextXid);
    this.#sent.push(call);
    this.#connection?.send(call.frame);
  }

  async #dial(): Promise<void> {
    await this.#dialer.dial({
      attempt: (target) => this.#attempt(target),
      avoid: this.#lastServer,
      fruitless: this.#fruitless,
      roundFailed: (distrust) => {
        if (distrust && this.#identity === NO_SESSION) this.#finish('untrusted');
        for (const call of this.#waiting.take()) setImmediate(() => call.settle({ kind: 'lost', sent: false }));
      },
    });
  }

  #attempt({ address, tls, deadlineMs }: Target): Promise<Error | null> {
    return new Promise((done) => {
      const resolve = (failure: Error | null) => {
        this.#stop.signal.removeEventListener('abort', stopped);
        done(failure);
      };
      const stopped = () => resolve(null);
      this.#stop.signal.addEventListener('abort', stopped);
      const hello = {
        identity: this.#identity,
        timeoutMs: this.#timeoutMs || this.#options.sessionTimeoutMs,
        lastZxid: this.#seenZxid,
      };
      const { host, port } = address;
      const maxReplyBytes = this.#options.maxReplyBytes ?? MAX_REPLY_BYTES;
      let accepted = false;
      const connection = new Connection(
        { host, port, tls, hello, deadlineMs, maxReplyBytes },
        {
          accepted: (reply) => {
            accepted = true;
            this.#lastServer = formatServer(address);
            this.#accepted(reply);
            resolve(null);
          },
          received: (header, reader) => this.#received(header, reader),
          ended: (error) => {
            if (accepted) this.#lost();
            else resolve(error);
          },
        },
      );
      this.#connection = connection;
    });
  }

  #accepted({ identity, timeoutMs }: ConnectReply): void {
    const asked = this.#identity;
    if (timeoutMs <= 0 || (asked !== NO_SESSION && identity.id !== asked.id)) {
      this.#finish('expired');
      return;
    }
    this.#identity = identity;
    this.#timeoutMs = timeoutMs;
    this.#phase = 'up';
    clearTimeout(this.#expiry);
    this.#answeredXid = 0;
    this.#nextXid = 1;
    // First who we are, then what we watch, so that both hold for whatever comes behind.
    for (const { scheme, credential } of this.#options.auth ?? [])
      this.#connection?.send(authFrame(scheme, credential));
    const watches = this.watches.frames(this.#repliedZxid);
    this.#arming = watches.length;
    for (const frame of watches) this.#connection?.send(frame);
    for (const call of this.#waiting.take()) this.#send(call);
    this.#events.connected(identity, timeoutMs);
  }

  #received(header: ReplyHeader, reader: JuteReader): void {
    if (header.zxid > this.#seenZxid) this.#seenZxid = header.zxid;
    switch (header.xid) {
      case XID.event:
        this.#event(readWatchEvent(reader));
        return;
      case XID.ping:
        break;
      case XID.auth:
        if (header.code !== CODE.ok) this.#finish('auth_failed');
        break;
      case XID.setWatches:
        // Refused, they would be lost for ever: another connection, another try.
        if (header.code !== CODE.ok) throw new MalformedError(`watches were not left again: code ${header.code}`);
        this.#arming -= 1;
        break;
      default:
        this.#reply(header, reader);
    }
    // While watches are being left again, what has happened meanwhile to those of a later frame has not been told yet.
    if (this.#arming > 0) return;
    this.#fruitless = 0;
    if (header.zxid > this.#repliedZxid) this.#repliedZxid = header.zxid;
  }

  #event({ change, path }: WatchEvent): void {
    if (change === null) return;
    const known = this.watches.fired(path, change);
    // While watches are left again, a deletion is announced once for each kind of watch on the node.
    if (known || this.#arming === 0) this.#events.node({ change, path });
  }

  #reply({ xid, code }: ReplyHeader, reader: JuteReader): void {
    const expected = next(this.#answeredXid);
    if (xid !== expected || this.#sent.size === 0) {
      throw new MalformedError(`a reply to request ${xid}, where one to ${expected} is due`);
    }
    if (code === CODE.sessionExpired) {
      this.#finish('expired');
      return;
    }
    const call = this.#sent.peek();
    // Before the call is taken out: if its reply is nonsense, it is lost with all others.
    const value = code === CODE.ok ? call?.read(reader) : undefined;
    this.#sent.shift();
    this.#answeredXid = xid;
    call?.settle({ kind: 'answered', code, value });
  }

  #lost(): void {
    if (this.#phase !== 'up') return;
    const heardAt = this.#connection?.heardAt ?? performance.now();
    this.#connection = null;
    this.#phase = 'down';
    this.#fruitless += 1;
    const { expireAfterMs = EXPIRE_AFTER_TIMEOUTS * this.#timeoutMs } = this.#options;
    const leftMs = heardAt + expireAfterMs - performance.now();
    clearTimeout(this.#expiry);
    this.#expiry = setTimeout(() => this.#finish('unheard'), Math.min(Math.max(0, leftMs), LONGEST_TIMER_MS));
    const lost = this.#sent.take();
    this.#events.disconnected();
    for (const call of lost) setImmediate(() => call.settle({ kind: 'lost', sent: true }));
    void this.#dial();
  }

  /** Tells the end before what it makes fail. */
  #finish(why: End): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    clearTimeout(this.#expiry);
    this.#connection?.end();
    this.#connection = null;
    this.#stop.abort();
    const sent = this.#sent.take();
    const waiting = this.#waiting.take();
    this.#events.ended(why);
    for (const call of sent) setImmediate(() => call.settle({ kind: 'over', sent: true }));
    for (const call of waiting) setImmediate(() => call.settle({ kind: 'over', sent: false }));
  }
}

function next(xid: number): number {
  return xid === MAX_XID ? 1 : xid + 1;
}
