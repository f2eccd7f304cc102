import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { FrameReader } from './frames.js';
import { type ConnectReply, type ConnectRequest, connectFrame, readConnectReply } from './handshake.js';
import { JuteReader } from './jute.js';
import { Pulse } from './pulse.js';
import { type ReplyHeader, readHeader } from './replies.js';
import { closeSession, pingFrame, requestFrame } from './requests.js';

/** What a {@link Connection} tells: each call from its own turn of the event loop, in the order of arrival. */
export interface ConnectionEvents {
  /** The first frame. */
  accepted(reply: ConnectReply): void;
  /** Any later one: its body is still in `reader`. May throw {@link MalformedError}, which ends the connection. */
  received(header: ReplyHeader, reader: JuteReader): void;
  /** Once, and last: not after our own {@link Connection.end}. */
  ended(error: Error): void;
}

export interface Dialing {
  readonly host: string;
  readonly port: number;
  /** Null: plain TCP. Else with whom we expect to find there. */
  readonly tls: ConnectionOptions | null;
  readonly hello: ConnectRequest;
  /** For everything up to the first frame, in milliseconds. */
  readonly deadlineMs: number;
  readonly maxReplyBytes: number;
}

/**
 * One connection to one server, from its first packet to its end.
 *
 * Each frame is handled in an immediate of its own: Node runs them in order, and all promise reactions of one before the
 * next, which is the order that the port promises. What these reactions send goes out in one piece, when the last frame
 * that has arrived is dealt with.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  readonly #frames: FrameReader;
  readonly #deadline: NodeJS.Timeout;
  readonly #hello: ConnectRequest;
  #phase: 'opening' | 'accepted' | 'over' = 'opening';
  /** No event is told any more: we have ended it. */
  #mute = false;
  #greeted = false;
  /** Our caller knows of what was granted. */
  #told = false;
  #pulse: Pulse | null = null;
  #undelivered = 0;
  #outgoing: Buffer[] = [];
  #flushing = false;
  /** The socket ends by itself, once it has sent our last word. */
  #parting = false;

  constructor(options: Dialing, events: ConnectionEvents) {
    const { host, port, tls, hello, deadlineMs, maxReplyBytes } = options;
    this.#events = events;
    this.#hello = hello;
    this.#frames = new FrameReader(maxReplyBytes);
    this.#deadline = setTimeout(
      () => this.#fail(new Error(`granted no session within ${Math.round(deadlineMs)} ms`)),
      deadlineMs,
    );
    const greet = () => {
      this.#greeted = true;
      this.#socket.write(connectFrame(hello));
    };
    this.#socket = tls === null ? connectTcp({ host, port }, greet) : connectTls({ ...tls, host, port }, greet);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#arrived(chunk));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('end', () => this.#fail(new Error('the server hung up')));
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  /** When the server was last heard, by the monotonic clock; null before it has granted anything. */
  get heardAt(): number | null {
    return this.#pulse?.heardAt ?? null;
  }

  /** Sends a frame, behind all others. */
  send(frame: Buffer): void {
    this.#outgoing.push(frame);
    if (this.#flushing) return;
    this.#flushing = true;
    process.nextTick(() => {
      // With more to be handled, what that makes us send goes along.
      if (this.#undelivered === 0) this.#flush();
    });
  }

  /** Ends it at once. Nothing is told any more. */
  end(): void {
    this.#mute = true;
    this.#close();
  }

  #arrived(chunk: Buffer): void {
    if (this.#phase === 'over') return;
    this.#pulse?.heard();
    try {
      for (const frame of this.#frames.push(chunk)) {
        if (this.#phase === 'opening') this.#accept(readConnectReply(frame));
        else this.#deliver(frame);
      }
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #accept(reply: ConnectReply): void {
    this.#phase = 'accepted';
    clearTimeout(this.#deadline);
    if (reply.timeoutMs > 0) {
      this.#pulse = new Pulse(
        reply.timeoutMs,
        () => this.#write([pingFrame()]),
        (silentMs) => this.#fail(new Error(`the server has been silent for ${Math.round(silentMs)} ms`)),
      );
    }
    this.#turn(() => {
      this.#told = true;
      this.#events.accepted(reply);
    });
  }

  #deliver(frame: Buffer): void {
    this.#turn(() => {
      const reader = new JuteReader(frame);
      this.#events.received(readHeader(reader), reader);
    });
  }

  #turn(task: () => void): void {
    this.#undelivered += 1;
    setImmediate(() => {
      this.#undelivered -= 1;
      if (this.#mute) return;
      try {
        task();
      } catch (error) {
        // Nothing that came behind it is believed.
        this.#mute = true;
        this.#close();
        setImmediate(() => this.#events.ended(error as Error));
      }
      // Once the reactions have sent what they send.
      if (this.#undelivered === 0 && this.#flushing) process.nextTick(() => this.#flush());
    });
  }

  #flush(): void {
    this.#flushing = false;
    const frames = this.#outgoing;
    this.#outgoing = [];
    if (frames.length > 0) this.#write(frames);
  }

  #write(frames: Buffer[]): void {
    if (this.#phase === 'over') return;
    this.#pulse?.sent();
    const [only] = frames;
    this.#socket.write(frames.length === 1 && only !== undefined ? only : Buffer.concat(frames));
  }

  /** Behind everything that has arrived. */
  #fail(error: Error): void {
    if (this.#phase === 'over') return;
    this.#close();
    if (!this.#mute) this.#turn(() => this.#events.ended(error));
  }

  #close(): void {
    if (this.#phase !== 'over') {
      // Granted to nobody, a new session would outlive us by T: the server ends it when it reads on.
      if (this.#greeted && !this.#told && this.#hello.identity.id === 0n && !this.#socket.destroyed) {
        this.#parting = true;
        this.#socket.write(requestFrame(1, closeSession));
        this.#socket.destroySoon();
      }
      this.#phase = 'over';
      clearTimeout(this.#deadline);
      this.#pulse?.stop();
    }
    if (!this.#parting) this.#socket.destroy();
  }
}
