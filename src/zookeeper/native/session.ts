import type {
  Children,
  CreateMode,
  NodeChange,
  NodeData,
  NodeListener,
  Session,
  SessionState,
  Stat,
} from '../../election/port.js';
import { CoordinatorError } from '../../errors.js';
import type { Cancel } from '../../lease/clock.js';
import type { Acl } from '../acl.js';
import { checkData, checkVersion } from '../limits.js';
import { Listeners } from '../listeners.js';
import { checkPath } from '../path.js';
import type { ServerAddress } from '../servers.js';
import type { Credential } from '../session-options.js';
import type { Handle, HandleFactory, RawStat, Reply } from './addon.js';
import { closeNode } from './closing.js';
import { AUTH_FAILED, CLOSING, errorFromCode, NO_NODE, OK } from './codes.js';
import { deliver } from './connection.js';
import { Link } from './link.js';
import { sessionId, statFrom } from './stat.js';
import { Watches } from './watches.js';

const FLAGS: Readonly<Record<CreateMode, number>> = { persistent: 0, ephemeral: 1, ephemeral_sequential: 3 };

/** How long `close()` waits for a lost connection to come back, so that the session can be ended and not merely left. */
const CLOSE_WAIT_MS = 1000;

/**
 * A session over the C client. It keeps its own state, as the C client's is wrong for up to 2/3 T after a stall.
 */
export class NativeSession implements Session {
  readonly #link: Link;
  readonly #acl: readonly Acl[] | undefined;
  readonly #onState = new Listeners<'state', SessionState>();
  readonly #onNode = new Listeners<string, NodeChange>();
  readonly #watches = new Watches();
  #id = '';
  #password = '';
  #timeoutMs = 0;
  #connected = false;
  #final: 'expired' | 'closed' | null = null;
  #endCode: number | null = null;
  #closing: Promise<void> | null = null;
  #wake: () => void = () => {};

  constructor(create: HandleFactory, credentials: readonly Credential[], acl?: readonly Acl[]) {
    this.#acl = acl;
    this.#link = new Link(create, credentials, {
      connected: ({ id, password }, timeoutMs) => {
        this.#id = sessionId(id);
        this.#password = password.toLowerCase();
        this.#timeoutMs = timeoutMs;
        this.#setConnected(true);
        this.#wake();
      },
      disconnected: () => this.#setConnected(false),
      ended: (code) => {
        this.#endCode = code;
        this.#finish('expired');
        this.#wake();
      },
      node: (path, change) => {
        this.#watches.fired(path, change);
        this.#onNode.notify(path, change);
      },
      // Each may have missed its change: all fire, so that their listeners look again.
      watchesLost: () => {
        for (const [path, change] of this.#watches.clear()) deliver(() => this.#onNode.notify(path, change));
      },
    });
  }

  /** See {@link Link.start}. */
  start(addresses: readonly ServerAddress[], sessionTimeoutMs: number): void {
    this.#link.start(addresses, sessionTimeoutMs);
  }

  /** See {@link Link.move}. */
  move(addresses: readonly ServerAddress[]): void {
    if (this.#final === null && !this.#connected) this.#link.move(addresses);
  }

  get id(): string {
    return this.#id;
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get state(): SessionState {
    if (this.#closing !== null && this.#final === null) return 'closed';
    return this.#final ?? (this.#connected ? 'connected' : 'disconnected');
  }

  /** The session's password as 32 hex digits: with the id, all that another process needs to end the session. */
  get password(): string {
    return this.#password;
  }

  /** Whether the ensemble ended the session by refusing our credentials. */
  get refusedCredentials(): boolean {
    return this.#endCode === AUTH_FAILED;
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

  /** With an ACL it resolves when the node is closed, too: one round trip later. */
  create(path: string, data: Uint8Array, mode: CreateMode): Promise<string> {
    const created = this.#create(path, data, mode);
    const acl = this.#acl;
    return acl === undefined ? created : created.then((made) => closeNode(this, made, mode, acl));
  }

  #create(path: string, data: Uint8Array, mode: CreateMode): Promise<string> {
    return this.#run(
      'create',
      path,
      (handle, reply: Reply<[string]>) => {
        checkPath('create', path, mode === 'ephemeral_sequential');
        checkData('create', path, data);
        return handle.a_create(path, data, FLAGS[mode], reply);
      },
      (created) => created,
    );
  }

  remove(path: string, version = -1): Promise<void> {
    return this.#run(
      'remove',
      path,
      (handle, reply: Reply) => {
        checkPath('remove', path);
        checkVersion('remove', path, version);
        return handle.a_delete_(path, version, reply);
      },
      () => {},
    );
  }

  write(path: string, data: Uint8Array, version = -1): Promise<Stat> {
    return this.#run(
      'write',
      path,
      (handle, reply: Reply<[RawStat]>) => {
        checkPath('write', path);
        checkData('write', path, data);
        checkVersion('write', path, version);
        return handle.a_set(path, data, version, reply);
      },
      (stat) => statFrom(stat, 'write', path),
    );
  }

  setAcl(path: string, acl: readonly Acl[]): Promise<void> {
    const raw = acl.map(({ permissions, scheme, id }) => ({ perm: permissions, scheme, auth: id }));
    return this.#run(
      'setAcl',
      path,
      (handle, reply: Reply) => {
        checkPath('setAcl', path);
        return handle.a_set_acl(path, -1, raw, reply);
      },
      () => {},
    );
  }

  read(path: string, { watch = false }: { watch?: boolean } = {}): Promise<NodeData | null> {
    return this.#look(
      'read',
      path,
      (found) => watch && found && this.#watches.left(path, 'changed'),
      (handle, reply: Reply<[RawStat, Buffer | null]>) => handle.a_get(path, watch, reply),
      (stat, data) => ({ data: data ?? new Uint8Array(), stat: statFrom(stat, 'read', path) }),
    );
  }

  stat(path: string, { watch = false }: { watch?: boolean } = {}): Promise<Stat | null> {
    return this.#look(
      'stat',
      path,
      () => watch && this.#watches.left(path, 'changed'),
      (handle, reply: Reply<[RawStat]>) => handle.a_exists(path, watch, reply),
      (stat) => statFrom(stat, 'stat', path),
    );
  }

  children(path: string, { watch = false }: { watch?: boolean } = {}): Promise<Children | null> {
    return this.#look(
      'children',
      path,
      (found) => watch && found && this.#watches.left(path, 'children'),
      (handle, reply: Reply<[string[] | null, RawStat]>) => handle.a_get_children2(path, watch, reply),
      (names, stat) => ({ names: names ?? [], stat: statFrom(stat, 'children', path) }),
    );
  }

  sync(path: string): Promise<void> {
    return this.#run(
      'sync',
      path,
      (handle, reply: Reply<[string]>) => {
        checkPath('sync', path);
        return handle.a_sync(path, reply);
      },
      () => {},
    );
  }

  /** Presents credentials. The request is sent only with the operation that follows; the C client repeats it on each reconnect. */
  authenticate(scheme: string, credential: string): Promise<void> {
    return this.#run(
      'authenticate',
      '',
      (handle, reply: Reply) => handle.add_auth(scheme, credential, reply),
      () => {},
    );
  }

  /**
   * Ends the session and frees the client. While disconnected it waits a second for the connection to return, as only a
   * server can end a session; without one, the session ends when T is over.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close(this.#id === '' ? 0 : CLOSE_WAIT_MS);
    return this.#closing;
  }

  async #close(waitMs: number): Promise<void> {
    // Also leads out of a native callback of the caller's own, from where closing would abort the process.
    await new Promise<void>(deliver);
    if (!this.#connected && this.#final === null && waitMs > 0) await this.#reconnected(waitMs);
    this.#link.close();
    if (this.#final === null) this.#finish('closed');
    // Behind all operations that have been settled by the end.
    await new Promise<void>(deliver);
    this.#onState.clear();
    this.#onNode.clear();
  }

  #reconnected(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  #setConnected(connected: boolean): void {
    if (this.#connected === connected) return;
    this.#connected = connected;
    if (this.#closing === null) this.#onState.notify('state', this.state);
  }

  #finish(final: 'expired' | 'closed'): void {
    this.#final = final;
    this.#connected = false;
    this.#onState.notify('state', final);
  }

  #endedError(operation: string, path: string): CoordinatorError {
    const kind = this.state === 'closed' ? 'session_closed' : 'session_expired';
    const detail = this.refusedCredentials ? 'the ensemble refused the credentials' : undefined;
    return new CoordinatorError(kind, operation, path, detail);
  }

  /** A read: no node is an answer, not an error. */
  #look<A extends unknown[], T>(
    operation: string,
    path: string,
    leaveWatch: (found: boolean) => void,
    send: (handle: Handle, reply: Reply<A>) => number,
    convert: (...results: A) => T,
  ): Promise<T | null> {
    const checked = (handle: Handle, reply: Reply<A>): number => {
      checkPath(operation, path);
      return send(handle, reply);
    };
    return this.#run<A, T | null>(operation, path, checked, convert, leaveWatch);
  }

  /** Sends one operation, at once. Whatever `send` or `convert` throws is the operation's rejection. */
  #run<A extends unknown[], T>(
    operation: string,
    path: string,
    send: (handle: Handle, reply: Reply<A>) => number,
    convert: (...results: A) => T,
    look: ((found: boolean) => void) | null = null,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closing !== null || this.#final !== null) throw this.#endedError(operation, path);
      this.#link.call(send, (code, results) => {
        if (code === OK && results !== null) {
          look?.(true);
          resolve(attempt(() => convert(...results)));
        } else if (code === NO_NODE && look !== null) {
          look(false);
          resolve(null as T);
        } else if (code === CLOSING || this.#final !== null) {
          reject(this.#endedError(operation, path));
        } else {
          reject(errorFromCode(code, operation, path));
        }
      });
    });
  }
}

/** A value, or a promise of it that is rejected with what was thrown. */
function attempt<T>(make: () => T): T | Promise<T> {
  try {
    return make();
  } catch (error) {
    return Promise.reject(error);
  }
}
