import type {
  Children,
  CreateMode,
  NodeChange,
  NodeData,
  NodeListener,
  Session,
  SessionState,
  Stat,
  TransactionPart,
} from '../../election/port.js';
import { CoordinatorError } from '../../errors.js';
import type { Cancel } from '../../lease/clock.js';
import type { Acl } from '../acl.js';
import { checkData, MAX_REQUEST_BYTES } from '../limits.js';
import { Listeners } from '../listeners.js';
import { CONFIG_PATH } from '../membership.js';
import type { Outcome } from './calls.js';
import { CODE, errorFromCode } from './codes.js';
import { sessionIdText } from './handshake.js';
import { type End, Link } from './link.js';
import * as operations from './operations.js';
import type { WireDriverOptions } from './options.js';
import { type NodeMode, requestFrame } from './requests.js';
import { transaction } from './transaction.js';

/** How long `close()` waits for a server to end the session, and before that for a lost connection to come back. */
const CLOSE_WAIT_MS = 1000;

const LENGTH_BYTES = 4;

interface Created {
  readonly path: string;
  readonly stat: Stat;
}

/** A session in ZooKeeper's own protocol: the port's, and what ZooKeeper can do besides. */
export class WireSession implements Session {
  readonly #options: WireDriverOptions;
  readonly #link: Link;
  readonly #onState = new Listeners<'state', SessionState>();
  readonly #onNode = new Listeners<string, NodeChange>();
  readonly #onAny = new Listeners<'any', { readonly path: string; readonly change: NodeChange }>();
  #timeoutMs = 0;
  #connected = false;
  #final: 'expired' | 'closed' | null = null;
  #end: End | null = null;
  #closing: Promise<void> | null = null;
  #wake: () => void = () => {};

  constructor(options: WireDriverOptions) {
    this.#options = options;
    this.#link = new Link(options, {
      connected: (_identity, timeoutMs) => {
        this.#timeoutMs = timeoutMs;
        this.#setConnected(true);
      },
      disconnected: () => this.#setConnected(false),
      ended: (why) => {
        this.#end = why;
        this.#finish(why === 'closed' ? 'closed' : 'expired');
      },
      node: ({ path, change }) => {
        this.#onNode.notify(path, change);
        this.#onAny.notify('any', { path, change });
      },
    });
  }

  /** See {@link Link.start}. */
  start(): Promise<void> {
    return this.#link.start();
  }

  get id(): string {
    return sessionIdText(this.#link.identity.id);
  }

  /** 32 hex digits: with the id, all that another process needs to end the session. */
  get password(): string {
    return Buffer.from(this.#link.identity.password).toString('hex');
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get state(): SessionState {
    if (this.#closing !== null && this.#final === null) return 'closed';
    return this.#final ?? (this.#connected ? 'connected' : 'disconnected');
  }

  /** Why it is over, null while it isn't. */
  get end(): End | null {
    return this.#end;
  }

  /** `host:port` of the server that we are on, or were last; null before the first. */
  get server(): string | null {
    return this.#link.server;
  }

  /** What became of each server that was tried in vain: for messages. */
  get failures(): string {
    return this.#link.failures;
  }

  onState(listener: (state: SessionState) => void): Cancel {
    return this.#onState.add('state', listener);
  }

  onNode(path: string, listener: (change: NodeChange) => void): Cancel {
    return this.#onNode.add(path, listener);
  }

  listen(path: string, listener: NodeListener): void {
    this.#onNode.listen(path, listener);
  }

  unlisten(path: string, listener: NodeListener): void {
    this.#onNode.unlisten(path, listener);
  }

  /** Every change that any watch of this session announces: for recursive watches. */
  onAnyNode(listener: (event: { readonly path: string; readonly change: NodeChange }) => void): Cancel {
    return this.#onAny.add('any', listener);
  }

  create(path: string, data: Uint8Array, mode: CreateMode): Promise<string> {
    return this.#create(path, data, mode, this.#options.acl, (created) => created.path);
  }

  /** As `create`, in every mode and with ACLs of its own (default: the session's), and with the new node's stat. */
  createNode(
    path: string,
    data: Uint8Array,
    mode: NodeMode,
    acl: readonly Acl[] | undefined = this.#options.acl,
  ): Promise<Created> {
    return this.#create(path, data, mode, acl, (created) => created);
  }

  remove(path: string, version = -1): Promise<void> {
    return this.#run(() => operations.remove(path, version), 'remove', path);
  }

  write(path: string, data: Uint8Array, version = -1): Promise<Stat> {
    return this.#run(
      () => {
        const operation = operations.write(path, data, version);
        this.#checkData('write', path, data);
        return operation;
      },
      'write',
      path,
    );
  }

  read(path: string, { watch = false }: { watch?: boolean } = {}): Promise<NodeData | null> {
    return this.#run(() => operations.read(path, watch), 'read', path);
  }

  stat(path: string, { watch = false }: { watch?: boolean } = {}): Promise<Stat | null> {
    return this.#run(() => operations.stat(path, watch), 'stat', path);
  }

  children(path: string, { watch = false }: { watch?: boolean } = {}): Promise<Children | null> {
    return this.#run(() => operations.children(path, watch), 'children', path);
  }

  sync(path: string): Promise<void> {
    return this.#run(() => operations.sync(path), 'sync', path);
  }

  async transaction(parts: readonly TransactionPart[]): Promise<void> {
    const refused = await this.#run(
      () => {
        for (const part of parts) if ('data' in part) this.#checkData(part.do, part.path, part.data);
        return transaction(parts, this.#options.acl);
      },
      'transaction',
      parts[0]?.path ?? '',
    );
    if (refused !== null) throw refused;
  }

  /** Who may do what to a node; null where there is none. It takes the right to read it, or to administer it. */
  acl(path: string): Promise<readonly Acl[] | null> {
    return this.#run(() => operations.acl(path), 'acl', path);
  }

  /** Replaces a node's ACL. It takes the right to administer it. */
  async setAcl(path: string, entries: readonly Acl[]): Promise<void> {
    await this.#run(() => operations.setAcl(path, entries), 'setAcl', path);
  }

  /** Leaves a watch that stays until it is removed; `recursive` also for everything below the path. See {@link onAnyNode}. */
  watch(path: string, { recursive = false }: { recursive?: boolean } = {}): Promise<void> {
    return this.#run(() => operations.addWatch(path, recursive), 'watch', path);
  }

  /** Takes back the watches of this session on the path, those that stay included. Rejects where there is none. */
  async unwatch(path: string): Promise<void> {
    await this.#run(() => operations.removeWatches(path, 'any'), 'unwatch', path);
    this.#link.watches.removed(path);
  }

  /** The ensemble's dynamic configuration, as text; null where there is none. */
  async config(): Promise<string | null> {
    const found = await this.read(CONFIG_PATH);
    return found === null ? null : Buffer.from(found.data).toString('utf8');
  }

  /** Whom the server takes us for, by each scheme. Servers before 3.7 hang up on the question. */
  whoAmI(): Promise<{ readonly scheme: string; readonly id: string }[]> {
    return this.#run(() => operations.whoAmI, 'whoAmI', '');
  }

  /**
   * Ends the session. While disconnected it waits a second for the connection to return, as only a server can end a session;
   * without one, the session ends when T is over.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Listeners are never called from inside a call.
    await new Promise<void>(setImmediate);
    if (this.#final === null && this.#link.identity.id !== 0n) {
      await this.#within(CLOSE_WAIT_MS, (done) => {
        this.#wake = done;
        if (this.#connected) done();
      });
      await this.#within(CLOSE_WAIT_MS, (done) => {
        this.#wake = done;
        if (this.#final === null && this.#connected) this.#send(operations.closeSession, done);
        else done();
      });
    }
    this.#link.close();
    // Behind all operations that have been settled by the end.
    await new Promise<void>(setImmediate);
    this.#onState.clear();
    this.#onNode.clear();
    this.#onAny.clear();
  }

  #within(ms: number, begin: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      begin(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #setConnected(connected: boolean): void {
    if (this.#connected === connected) return;
    this.#connected = connected;
    if (this.#closing === null) this.#onState.notify('state', this.state);
    this.#wake();
  }

  #finish(final: 'expired' | 'closed'): void {
    this.#final = final;
    this.#connected = false;
    this.#onState.notify('state', final);
    this.#wake();
  }

  #create<T>(
    path: string,
    data: Uint8Array,
    mode: NodeMode,
    acl: readonly Acl[] | undefined,
    pick: (created: Created) => T,
  ): Promise<T> {
    return this.#run(
      () => {
        const operation = operations.create(path, data, mode, acl);
        this.#checkData('create', path, data);
        return { ...operation, read: (reader) => pick(operation.read(reader)) };
      },
      'create',
      path,
    );
  }

  #checkData(operation: string, path: string, data: Uint8Array): void {
    checkData(operation, path, data, this.#options.maxRequestBytes);
  }

  /** Sends one operation, at once. Whatever `make` throws is its rejection. */
  #run<T>(make: () => operations.Operation<T>, name: string, path: string): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closing !== null || this.#final !== null) throw this.#endedError(name, path, false);
      const operation = make();
      this.#send(operation, (outcome) => {
        if (outcome.kind === 'over') reject(this.#endedError(name, path, outcome.sent));
        else if (outcome.kind === 'lost') {
          reject(new CoordinatorError('connection_lost', name, path, undefined, { unsent: !outcome.sent }));
        } else if (outcome.code === CODE.ok) {
          this.#left(operation, true);
          resolve(outcome.value as T);
        } else if (outcome.code === CODE.noNode && operation.nullable) {
          this.#left(operation, false);
          resolve(null as T);
        } else reject(errorFromCode(outcome.code, name, path));
      });
    });
  }

  #send(operation: operations.Operation<unknown>, settle: (outcome: Outcome) => void): void {
    const frame = requestFrame(0, operation.request);
    const limit = this.#options.maxRequestBytes ?? MAX_REQUEST_BYTES;
    if (frame.length - LENGTH_BYTES > limit) {
      const { name, path } = operation;
      throw new CoordinatorError('too_large', name, path, `${frame.length - LENGTH_BYTES} bytes, at most ${limit} fit`);
    }
    this.#link.call({ frame, read: operation.read, settle });
  }

  #left({ leaves, path }: operations.Operation<unknown>, found: boolean): void {
    const kind = leaves(found);
    if (kind !== null) this.#link.watches.left(kind, path);
  }

  #endedError(operation: string, path: string, sent: boolean): CoordinatorError {
    const kind = this.state === 'closed' ? 'session_closed' : 'session_expired';
    const detail = this.#end === null ? undefined : DETAILS[this.#end];
    return new CoordinatorError(kind, operation, path, detail, { unsent: !sent });
  }
}

const DETAILS: Readonly<Partial<Record<End, string>>> = {
  auth_failed: 'the ensemble refused the credentials',
  unheard: 'no server has taken us for too long',
};
