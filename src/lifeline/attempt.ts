import type { Socket } from 'node:net';
import { CODE } from '../zookeeper/wire/codes.js';
import { FrameReader } from '../zookeeper/wire/frames.js';
import { connectFrame, type Identity, readConnectReply } from '../zookeeper/wire/handshake.js';
import { JuteReader } from '../zookeeper/wire/jute.js';
import { readHeader } from '../zookeeper/wire/replies.js';
import { authFrame, closeSession, type Request, requestFrame } from '../zookeeper/wire/requests.js';

/** Replies to writes are short. */
const LONGEST_REPLY = 1 << 20;

export interface Plan {
  readonly identity: Identity;
  readonly timeoutMs: number;
  readonly auth: readonly { readonly scheme: string; readonly credential: string }[];
  readonly requests: readonly Request[];
}

/**
 * One connection that goes on with a session and carries out a plan, all in one write: the handshake, the credentials, the
 * requests. The server refuses or applies each in this order.
 */
export class Attempt {
  /** Resolves when every request is answered, whatever the answer; `over` where the session is dead already. */
  readonly done: Promise<'answered' | 'over'>;
  readonly #socket: Socket;
  readonly #frames = new FrameReader(LONGEST_REPLY);
  readonly #requests: number;
  /** When the server was last heard, by `performance.now()`. */
  heardAt = Number.NEGATIVE_INFINITY;
  #attached = false;
  #answered = 0;
  #resolve: (outcome: 'answered' | 'over') => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(socket: Socket, plan: Plan) {
    const { identity, timeoutMs, auth, requests } = plan;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.done.catch(() => {});
    this.#requests = requests.length;
    this.#socket = socket;
    this.#socket.on('data', (chunk) => this.#arrived(chunk));
    this.#socket.on('error', this.#reject);
    this.#socket.on('close', () => this.#reject(new Error('the connection was closed')));
    this.#socket.write(
      Buffer.concat([
        connectFrame({ identity, timeoutMs, lastZxid: 0n }),
        ...auth.map(({ scheme, credential }) => authFrame(scheme, credential)),
        ...requests.map((request, index) => requestFrame(index + 1, request)),
      ]),
    );
  }

  get connected(): boolean {
    return !this.#socket.destroyed;
  }

  /** Asks for the session's end. Resolves when the server has hung up, which it does when the end is committed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return resolve();
      this.#socket.once('close', () => resolve());
      this.#socket.write(requestFrame(this.#requests + 1, closeSession));
    });
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #arrived(chunk: Buffer): void {
    this.heardAt = performance.now();
    try {
      for (const payload of this.#frames.push(chunk)) this.#read(payload);
    } catch (error) {
      this.#reject(error as Error);
      this.#socket.destroy();
    }
  }

  #read(payload: Buffer): void {
    if (!this.#attached) {
      this.#attached = true;
      if (readConnectReply(payload).timeoutMs <= 0) this.#resolve('over');
      else if (this.#requests === 0) this.#resolve('answered');
      return;
    }
    // Answers to credentials and news of watches have numbers below zero.
    const { xid, code } = readHeader(new JuteReader(payload));
    if (xid <= 0) return;
    // Another attempt of ours has taken the session to another server: this one has applied nothing.
    if (code === CODE.sessionMoved) {
      this.#reject(new Error('the session has moved'));
      return;
    }
    this.#answered += 1;
    if (this.#answered === this.#requests) this.#resolve('answered');
  }
}
