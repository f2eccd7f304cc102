import type { NodeChange } from '../../src/election/port.js';
import type { Answer, Operation, Read, ToClient, ToServer, Watched } from './messages.js';
import type { Endpoint } from './network.js';
import type { Attached, ServerCore } from './parts.js';
import type { Outcome, Write } from './transaction.js';
import { statOf } from './tree.js';

/** What still has to be answered, in the order in which it was asked. */
interface Waiting {
  /** Computes the reply of a read or ping when its turn comes; null for what waits for the quorum or the leader. */
  readonly reply: (() => ToClient) | null;
  /** The reply of a write or sync, once it is there. */
  answer: ToClient | null;
}

/**
 * A client's connection at its server. Replies leave in the order of the requests: a read, even a
 * ping, behind a write waits until that write is applied here. Reads ask nobody else.
 */
export class ServerConnection implements Attached {
  readonly #server: ServerCore;
  readonly #endpoint: Endpoint<ToServer, ToClient>;
  readonly #waiting: Waiting[] = [];
  #session: string | null = null;

  constructor(server: ServerCore, endpoint: Endpoint<ToServer, ToClient>) {
    this.#server = server;
    this.#endpoint = endpoint;
    endpoint.onMessage = (message) => this.#receive(message);
    endpoint.onClose = () => server.disconnected(this);
  }

  get session(): string | null {
    return this.#session;
  }

  announce(path: string, change: NodeChange): void {
    this.#endpoint.send({ type: 'event', path, change });
  }

  /** A write has been applied. @returns whether it was asked for on this connection */
  settle(origin: object, zxid: bigint, outcome: Outcome): boolean {
    const waiting = this.#waiting.find((candidate) => candidate === origin);
    if (waiting === undefined) return false;
    const answer = outcome.ok ? outcome : told(outcome);
    if (answer === null) {
      this.end();
      return true;
    }
    if (outcome.ok && this.#session !== null && this.#server.around.losingReply.delete(this.#session)) {
      this.#endpoint.reset(false);
      this.end();
      return true;
    }
    waiting.answer = { type: 'reply', zxid, answer };
    this.#flush();
    return true;
  }

  end(): void {
    this.#endpoint.close();
    this.#waiting.length = 0;
    this.#server.disconnected(this);
  }

  #receive(message: ToServer): void {
    const role = this.#server.role;
    if (!this.#server.serving || role === null) {
      this.end();
      return;
    }
    if (message.type === 'connect') {
      this.#connect(message.session, message.timeoutMs, message.seen);
      return;
    }
    const session = this.#session;
    if (session === null) {
      this.end();
      return;
    }
    role.touch(session);
    if (message.type === 'ping') this.#later(() => ({ type: 'pong', zxid: this.#server.tree.zxid }));
    else if (message.type === 'rewatch') this.#rewatch(message.since, message.watched);
    else this.#operate(message.operation, session);
  }

  #connect(session: string | null, timeoutMs: number, seen: bigint): void {
    const { role, tree } = this.#server;
    // The client knows more than we do: serving it would take it back in time.
    if (role === null || seen > tree.zxid) {
      this.end();
      return;
    }
    if (session === null) {
      this.#open(timeoutMs);
      return;
    }
    this.#server.connectionOf(session)?.end();
    role.revalidate({
      session,
      answered: (granted) => {
        if (this.#endpoint.closed) return;
        if (granted !== null) this.#session = session;
        this.#endpoint.send({ type: 'attached', session: granted === null ? null : session, timeoutMs: granted ?? 0 });
        if (granted === null) this.end();
      },
    });
  }

  #open(timeoutMs: number): void {
    const { tickMs } = this.#server.around.settings;
    const granted = Math.min(Math.max(timeoutMs, 2 * tickMs), 20 * tickMs);
    const session = this.#server.newSessionId();
    this.#session = session;
    const attached: ToClient = { type: 'attached', session, timeoutMs: granted };
    this.#submit({ type: 'open', session, timeoutMs: granted }, attached);
  }

  #operate(operation: Operation, session: string): void {
    switch (operation.type) {
      case 'read':
      case 'stat':
      case 'children':
        this.#later(() => ({ type: 'reply', zxid: this.#server.tree.zxid, answer: this.#read(operation) }));
        return;
      case 'sync': {
        const waiting: Waiting = { reply: null, answer: null };
        this.#waiting.push(waiting);
        this.#server.role?.sync(() => {
          if (this.#endpoint.closed) return;
          const answer: Answer = { ok: true, path: operation.path, stat: null };
          waiting.answer = { type: 'reply', zxid: this.#server.tree.zxid, answer };
          this.#flush();
        });
        return;
      }
      default:
        this.#submit(operation.type === 'close' ? { type: 'close', session } : operation);
    }
  }

  #submit(write: Write, instead?: ToClient): void {
    const waiting: Waiting = { reply: instead === undefined ? null : () => instead, answer: null };
    this.#waiting.push(waiting);
    this.#server.role?.submit({ write, session: this.#session, via: this.#server.id, origin: waiting });
  }

  #later(reply: () => ToClient): void {
    if (this.#waiting.length === 0) this.#endpoint.send(reply());
    else this.#waiting.push({ reply, answer: READY });
  }

  #flush(): void {
    for (let head = this.#waiting[0]; head?.answer != null; head = this.#waiting[0]) {
      this.#waiting.shift();
      this.#endpoint.send(head.reply?.() ?? head.answer);
    }
  }

  #read({ type, path, watch }: Exclude<Read, { type: 'sync' }>): Answer {
    const { tree, watches, random } = this.#server;
    const node = tree.get(path);
    if (type === 'stat') {
      if (watch) watches.watchData(path, this);
      return { ok: true, path, stat: node === undefined ? null : statOf(node) };
    }
    if (type === 'read') {
      if (watch && node !== undefined) watches.watchData(path, this);
      return { ok: true, node: node === undefined ? null : { data: node.data, stat: statOf(node) } };
    }
    if (watch && node !== undefined) watches.watchChildren(path, this);
    // ZooKeeper promises no order of children.
    const names = node === undefined ? null : random.shuffle([...node.children]);
    return { ok: true, names, stat: node === undefined ? null : statOf(node) };
  }

  /** Watches come back after a reconnect: what they missed is announced at once, ahead of every later reply. */
  #rewatch(since: bigint, watched: Watched): void {
    const { tree, watches, random } = this.#server;
    // In an order of the server's own: the deletion of one node may come ahead of an older change of another.
    for (const path of random.shuffle([...watched.data])) {
      const node = tree.get(path);
      if (node === undefined) this.announce(path, 'deleted');
      else if (node.mzxid > since) this.announce(path, 'changed');
      else watches.watchData(path, this);
    }
    for (const path of watched.exists) {
      if (tree.get(path) !== undefined) this.announce(path, 'created');
      else watches.watchData(path, this);
    }
    for (const path of watched.child) {
      const node = tree.get(path);
      if (node === undefined) this.announce(path, 'deleted');
      else if (node.pzxid > since) this.announce(path, 'children');
      else watches.watchChildren(path, this);
    }
  }
}

/** Stands for "its turn is all that it waits for". */
const READY: ToClient = { type: 'pong', zxid: 0n };

function told({ kind, ...refusal }: Outcome & { readonly ok: false }): Answer | null {
  return kind === 'session_moved' ? null : { ...refusal, kind };
}
