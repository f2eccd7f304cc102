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
} from '../../src/election/port.js';
import { CoordinatorError, type CoordinatorErrorKind } from '../../src/errors.js';
import type { Cancel } from '../../src/lease/clock.js';
import { checkPath } from '../../src/zookeeper/path.js';
import { ClientWatches } from './client-watches.js';
import type { Answer, Operation, ToClient } from './messages.js';
import type { Network } from './network.js';
import type { SimulatedProcess } from './process.js';
import type { Server } from './server.js';
import type { Write } from './transaction.js';
import { Transport } from './transport.js';

interface Pending {
  readonly operation: Operation;
  readonly name: string;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** What every server refuses, by dropping the connection; drivers refuse it themselves. */
const MAX_DATA_BYTES = 1_000_000;

/** One session as a driver presents it: the port, on a simulated connection. */
export class SimulatedSession implements Session {
  readonly #process: SimulatedProcess;
  readonly #transport: Transport;
  readonly #watches = new ClientWatches();
  readonly #stateListeners = new Set<(state: SessionState) => void>();
  readonly #nodeListeners = new Map<string, Set<(change: NodeChange) => void>>();
  readonly #cancels = new Map<NodeListener, Map<string, Cancel>>();
  /** Sent, in order. Replies come in the same order. */
  readonly #sent: Pending[] = [];
  /** To be sent once attached again. */
  readonly #unsent: Pending[] = [];
  readonly #opened: (session: SimulatedSession) => void;
  readonly #newClientChance: number;
  /** Only where its driver knows transactions. */
  readonly transaction?: (parts: readonly TransactionPart[]) => Promise<void>;
  #id = '';
  #timeoutMs = 0;
  #state: SessionState = 'disconnected';
  #closing: Promise<void> | null = null;

  /** @param opened called once, when the ensemble has granted the session */
  constructor(
    process: SimulatedProcess,
    network: Network,
    servers: readonly Server[],
    timeoutMs: number,
    { newClientChance, transactions }: { readonly newClientChance: number; readonly transactions: boolean },
    opened: (session: SimulatedSession) => void,
  ) {
    this.#process = process;
    this.#newClientChance = newClientChance;
    this.#opened = opened;
    if (transactions) this.transaction = (parts) => this.#transaction(parts);
    this.#transport = new Transport(process, network, servers, timeoutMs, {
      attached: (id, granted) => this.#attached(id, granted),
      expired: () => this.#end('expired'),
      message: (message) => this.#receive(message),
      detached: (how) => this.#detached(how),
      // As with the C client, what waits for a connection may fail with the attempt.
      attemptFailed: () => {
        if (process.random.chance(0.5)) this.#fail(this.#unsent, 'connection_lost');
      },
    });
    this.#transport.start();
  }

  get id(): string {
    return this.#id;
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The server that it is attached to, as far as the client knows; null while there is none. */
  get server(): Server | null {
    return this.#transport.server;
  }

  onState(listener: (state: SessionState) => void): Cancel {
    // A listener may be registered twice; each registration is its own.
    const registered = (state: SessionState) => listener(state);
    this.#stateListeners.add(registered);
    return () => this.#stateListeners.delete(registered);
  }

  onNode(path: string, listener: (change: NodeChange) => void): Cancel {
    const registered = (change: NodeChange) => listener(change);
    const listeners = this.#nodeListeners.get(path) ?? new Set();
    this.#nodeListeners.set(path, listeners.add(registered));
    return () => {
      listeners.delete(registered);
      if (listeners.size === 0 && this.#nodeListeners.get(path) === listeners) this.#nodeListeners.delete(path);
    };
  }

  listen(path: string, listener: NodeListener): void {
    const cancels = this.#cancels.get(listener) ?? new Map<string, Cancel>();
    this.#cancels.set(listener, cancels);
    if (!cancels.has(path))
      cancels.set(
        path,
        this.onNode(path, (change) => listener.changed(path, change)),
      );
  }

  unlisten(path: string, listener: NodeListener): void {
    this.#cancels.get(listener)?.get(path)?.();
    this.#cancels.get(listener)?.delete(path);
  }

  async create(path: string, data: Uint8Array, mode: CreateMode): Promise<string> {
    checkPath('create', path, mode === 'ephemeral_sequential');
    checkData('create', path, data);
    const answer = await this.#ask('create', { type: 'create', path, data: data.slice(), mode });
    return 'path' in answer ? answer.path : wrong(answer);
  }

  async remove(path: string, version = -1): Promise<void> {
    checkPath('remove', path);
    await this.#ask('remove', { type: 'remove', path, version });
  }

  async write(path: string, data: Uint8Array, version: number): Promise<Stat> {
    checkPath('write', path);
    checkData('write', path, data);
    const answer = await this.#ask('write', { type: 'write', path, data: data.slice(), version });
    return 'stat' in answer && answer.stat !== null ? answer.stat : wrong(answer);
  }

  async read(path: string, { watch = false }: { watch?: boolean } = {}): Promise<NodeData | null> {
    checkPath('read', path);
    const answer = await this.#ask('read', { type: 'read', path, watch });
    if (!('node' in answer)) return wrong(answer);
    return answer.node === null ? null : { data: answer.node.data.slice(), stat: answer.node.stat };
  }

  async stat(path: string, { watch = false }: { watch?: boolean } = {}): Promise<Stat | null> {
    checkPath('stat', path);
    const answer = await this.#ask('stat', { type: 'stat', path, watch });
    return 'stat' in answer ? answer.stat : wrong(answer);
  }

  async children(path: string, { watch = false }: { watch?: boolean } = {}): Promise<Children | null> {
    checkPath('children', path);
    const answer = await this.#ask('children', { type: 'children', path, watch });
    if (!('names' in answer)) return wrong(answer);
    return answer.names === null || answer.stat === null ? null : { names: answer.names, stat: answer.stat };
  }

  async sync(path: string): Promise<void> {
    checkPath('sync', path);
    await this.#ask('sync', { type: 'sync', path });
  }

  async #transaction(parts: readonly TransactionPart[]): Promise<void> {
    const writes = parts.map(({ do: type, ...part }): Write => {
      checkPath(type, part.path, 'mode' in part && part.mode === 'ephemeral_sequential');
      return { version: -1, ...part, type } as Write;
    });
    await this.#ask('transaction', { type: 'multi', parts: writes });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Detached, there is nobody to tell: the session lives on until its time is over. */
  #close(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#end('closed');
        resolve();
      };
      if (this.#transport.attached) {
        this.#send({ operation: { type: 'close', session: this.#id }, name: 'close', resolve: done, reject: done });
      } else this.#process.post(done);
    });
  }

  #ask(name: string, operation: Operation): Promise<Extract<Answer, { ok: true }>> {
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        operation,
        name,
        reject,
        resolve: (answer) => {
          if (answer.ok) resolve(answer);
          else reject(refusalOf(answer, name, operation));
        },
      };
      if (this.#closing !== null || this.#isOver()) {
        const kind = this.#state === 'expired' ? 'session_expired' : 'session_closed';
        this.#process.post(() => reject(new CoordinatorError(kind, name, pathOf(operation))));
      } else if (this.#state === 'connected') this.#send(pending);
      else this.#unsent.push(pending);
    });
  }

  #isOver(): boolean {
    return this.#state === 'expired' || this.#state === 'closed';
  }

  #send(pending: Pending): void {
    this.#sent.push(pending);
    this.#transport.send({ type: 'operation', operation: pending.operation });
  }

  #attached(id: string, timeoutMs: number): void {
    const first = this.#id === '';
    this.#id = id;
    this.#timeoutMs = timeoutMs;
    // Ahead of everything else, so that what the watches missed is announced before any later reply.
    if (!this.#watches.empty && this.#process.random.chance(this.#newClientChance)) this.#loseWatches();
    if (!this.#watches.empty) {
      this.#transport.send({ type: 'rewatch', since: this.#transport.seen, watched: this.#watches.list() });
    }
    for (const pending of this.#unsent.splice(0)) this.#send(pending);
    this.#state = 'connected';
    if (first) this.#opened(this);
    else this.#tellState('connected');
  }

  /** They are gone with the old client. Each may have missed its change: all are announced, each in a turn of its own. */
  #loseWatches(): void {
    const { data, exists, child } = this.#watches.list();
    this.#watches.clear();
    for (const path of [...data, ...exists]) this.#process.post(() => this.#announceLost(path, 'changed'));
    for (const path of child) this.#process.post(() => this.#announceLost(path, 'children'));
  }

  #announceLost(path: string, change: NodeChange): void {
    if (!this.#isOver()) this.#tellNode(path, change);
  }

  #detached(how: 'connection_lost' | 'operation_timeout'): void {
    if (this.#isOver()) return;
    this.#state = 'disconnected';
    this.#tellState('disconnected');
    this.#fail(this.#sent, how);
  }

  #receive(message: ToClient): void {
    if (this.#isOver()) return;
    if (message.type === 'event') {
      this.#watches.fired(message.path, message.change);
      this.#tellNode(message.path, message.change);
    } else if (message.type === 'reply') {
      const pending = this.#sent.shift();
      if (pending === undefined) throw new Error('a reply to nothing');
      this.#watches.left(pending.operation, message.answer);
      pending.resolve(message.answer);
    }
  }

  #end(state: 'expired' | 'closed'): void {
    if (this.#isOver()) return;
    this.#state = state;
    this.#transport.stop();
    this.#tellState(state);
    // What was sent has failed with the connection, or been answered before the close.
    this.#fail(this.#unsent, state === 'expired' ? 'session_expired' : 'session_closed');
  }

  /** Each rejection is an event of its own, after the one that caused it. */
  #fail(operations: Pending[], kind: CoordinatorErrorKind): void {
    for (const { operation, name, reject } of operations.splice(0)) {
      this.#process.post(() => reject(new CoordinatorError(kind, name, pathOf(operation))));
    }
  }

  #tellState(state: SessionState): void {
    for (const listener of [...this.#stateListeners]) listener(state);
  }

  #tellNode(path: string, change: NodeChange): void {
    for (const listener of [...(this.#nodeListeners.get(path) ?? [])]) listener(change);
  }
}

/** Of several parts, the one that was refused gives its name and path. */
function refusalOf(
  { kind, part }: Answer & { readonly ok: false },
  name: string,
  operation: Operation,
): CoordinatorError {
  const refused = operation.type === 'multi' && part !== undefined ? operation.parts[part] : undefined;
  return refused === undefined
    ? new CoordinatorError(kind, name, pathOf(operation))
    : new CoordinatorError(kind, refused.type, pathOf(refused));
}

function pathOf(operation: Operation): string {
  if (operation.type === 'multi') return operation.parts[0] === undefined ? '' : pathOf(operation.parts[0]);
  return 'path' in operation ? operation.path : '';
}

function checkData(operation: string, path: string, data: Uint8Array): void {
  if (data.length > MAX_DATA_BYTES) throw new CoordinatorError('too_large', operation, path);
}

function wrong(answer: Answer): never {
  throw new Error(`an answer to another question: ${JSON.stringify(Object.keys(answer))}`);
}
