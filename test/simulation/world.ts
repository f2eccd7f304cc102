import type { NodeData } from '../../src/election/port.js';
import type { Cancel } from '../../src/lease/clock.js';
import { Random } from '../../src/verify/random.js';
import { SimulatedClient } from './client.js';
import { WALL_EPOCH } from './clock.js';
import { Elector } from './elector.js';
import { History, type HistoryEntry } from './history.js';
import { type Delays, type Host, Network } from './network.js';
import { Operator } from './operator.js';
import type { EnsembleSettings } from './parts.js';
import { SimulatedProcess } from './process.js';
import { type RunLimits, Scheduler } from './scheduler.js';
import { Server } from './server.js';
import type { Outcome, Transaction } from './transaction.js';
import { statOf } from './tree.js';

export interface WorldOptions extends Partial<EnsembleSettings> {
  /** The same seed, and the same calls at the same times, give the same history. */
  readonly seed: number;
  /** How many servers. Default 3. */
  readonly servers?: number;
  /** How long messages take, between any two hosts. */
  readonly delays?: Partial<Delays>;
  /** Told of everything that is recorded, as it happens. Must not call back into the world. */
  readonly onHistory?: (entry: HistoryEntry) => void;
  /** Told of each transaction once, in their order, when it is first applied anywhere: the truth, ahead of every client. */
  readonly onCommit?: (transaction: Transaction, outcome: Outcome) => void;
  /** How many entries of the history are kept. Default 10,000. */
  readonly historyLimit?: number;
}

export interface ProcessOptions {
  readonly name: string;
  /** How fast its clocks run: 1.05 is 5 % fast. Default 1. */
  readonly rate?: number;
  /** What its driver asks for; the ensemble grants 2 to 20 ticks. Default 10,000. */
  readonly sessionTimeoutMs?: number;
  /** Default 30,000. */
  readonly connectTimeoutMs?: number;
  /** See {@link DriverOptions}. Default 0. */
  readonly newClientChance?: number;
  /** Whether the driver knows transactions, as the wire driver does. Default false. */
  readonly transactions?: boolean;
  /** The servers that its driver knows. Default all. */
  readonly servers?: readonly Server[];
}

/**
 * A simulated ensemble and the processes that use it, in virtual time.
 *
 * ```ts
 * const world = createWorld({ seed: 7 });
 * const a = world.process({ name: 'a', rate: 1.04 });
 * await world.drive(async () => {
 *   const session = await a.driver.open();
 *   await session.create('/n', new Uint8Array(), 'ephemeral');
 * });
 * world.cut(a, world.leader());
 * world.schedule(3_000, () => world.healAll());
 * await world.run({ untilMs: world.now + 60_000 });
 * ```
 *
 * The code under test is ordinary: it gets `process.clock` and `process.driver`, and knows nothing of
 * the world. Nothing happens, and no time passes, but inside {@link run} and {@link drive}. There, one
 * event at a time is delivered, followed by every promise reaction that it causes; between two events
 * no time passes for anybody. So code under test must wait for nothing but its clock, its driver and
 * promises: no real timers, no input or output, no `AbortSignal.timeout`.
 *
 * What is modelled: one log, committed by a majority and applied by each server in its own time;
 * leaders that are elected, cut off, and replaced, with what they had proposed committed after all or
 * dropped; sessions whose clocks only the leader keeps, and only hears of by way of its followers'
 * pings; one-shot watches by kind, set again after a reconnect; connections that keep order, wait while
 * cut off, and may lose a reply. What isn't: ACLs, disks that fail, containers, TTLs, transactions.
 */
export class World {
  readonly servers: readonly Server[];
  readonly history: History;
  /** By the world's seed: for a test's own choices. */
  readonly random: Random;
  readonly operator: Operator;
  readonly settings: EnsembleSettings;
  readonly #scheduler = new Scheduler();
  readonly #network: Network;
  readonly #elector: Elector;
  readonly #root: Random;
  readonly #clients: SimulatedClient[] = [];
  readonly #losingReply = new Set<string>();
  readonly #onCommit: ((transaction: Transaction, outcome: Outcome) => void) | undefined;
  #newest = 0n;

  constructor(options: WorldOptions) {
    const { seed, servers = 3, tickMs = 2_000, syncLimit = 5, initLimit = 10, historyLimit = 10_000 } = options;
    this.#root = new Random(seed);
    this.random = this.#root.fork();
    this.settings = { tickMs, syncLimit, initLimit };
    this.history = new History(historyLimit, options.onHistory);
    this.#onCommit = options.onCommit;
    this.#network = new Network(this.#scheduler, this.#root.fork(), { ...USUAL_DELAYS, ...options.delays });
    this.#elector = new Elector(this.#scheduler, this.#network, this.#root.fork());
    const around = {
      scheduler: this.#scheduler,
      network: this.#network,
      votes: this.#elector,
      settings: this.settings,
      losingReply: this.#losingReply,
      wall: () => WALL_EPOCH + Math.floor(this.now),
      note: (server: string, what: string) => this.record(server, what),
      onCommit: (transaction: Transaction, outcome: Outcome) => this.#committed(transaction, outcome),
    };
    this.servers = Array.from({ length: servers }, (_, i) => new Server(i + 1, this.#root.fork(), around));
    for (const server of this.servers) this.#elector.enrol(server);
    this.operator = new Operator(this.#scheduler, this.#root.fork(), this.servers);
    this.#elector.consider();
  }

  /** True time in milliseconds since the world began. */
  get now(): number {
    return this.#scheduler.now;
  }

  /** Events so far. */
  get steps(): number {
    return this.#scheduler.steps;
  }

  get clients(): readonly SimulatedClient[] {
    return this.#clients;
  }

  /** Starts a client process. A killed one doesn't come back: start another. */
  process(options: ProcessOptions): SimulatedClient {
    const { name, rate = 1, sessionTimeoutMs = 10_000, connectTimeoutMs = 30_000 } = options;
    const { newClientChance = 0, transactions = false } = options;
    const { servers = this.servers } = options;
    const process = new SimulatedProcess(this.#scheduler, this.#root.fork(), name, rate);
    const settings = { sessionTimeoutMs, connectTimeoutMs, newClientChance, transactions };
    const note = (what: string) => this.record(name, what);
    const client = new SimulatedClient(process, this.#network, servers, settings, this.#losingReply, note);
    this.#clients.push(client);
    return client;
  }

  /** Lets things happen until a limit is reached, and says which; without one, for ever. */
  run(limits: RunLimits): Promise<'time' | 'steps' | 'settled' | 'idle'> {
    return this.#scheduler.run(limits);
  }

  /** Runs the body and lets things happen until it has settled; rejects if that takes longer than `withinMs` of virtual time. */
  async drive<T>(body: () => Promise<T>, { withinMs = 600_000 }: { withinMs?: number } = {}): Promise<T> {
    const result = body();
    const stopped = await this.run({ until: result, untilMs: this.now + withinMs });
    if (stopped === 'settled') return result;
    // Nobody is going to wait for it any more.
    result.catch(() => {});
    throw new Error(
      `not settled after ${withinMs} ms of virtual time; lately:\n${this.history.toString().slice(-4_000)}`,
    );
  }

  /** Resolves after so much virtual time; inside {@link drive}. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.schedule(ms, resolve));
  }

  /** Calls `task` as an event of its own, in so much virtual time from now. */
  schedule(delayMs: number, task: () => void): Cancel {
    return this.#scheduler.after(delayMs, () => {
      this.#scheduler.wake();
      task();
    });
  }

  record(who: string, what: string, detail?: unknown): void {
    const entry = { at: this.now, step: this.steps, who, what };
    this.history.add(detail === undefined ? entry : { ...entry, detail });
  }

  /** Nothing passes between the two until healed. What is sent meanwhile waits; each side may time out. */
  cut(a: SimulatedClient | Server, b: SimulatedClient | Server): void {
    this.cutOneWay(a, b);
    this.cutOneWay(b, a);
  }

  /** What `from` sends no longer reaches `to`: a server that hears its client, say, and isn't heard. */
  cutOneWay(from: SimulatedClient | Server, to: SimulatedClient | Server): void {
    this.record(from.name, `no longer reaches ${to.name}`);
    this.#network.cut(hostOf(from), hostOf(to));
  }

  /** What `from` sends to `to` takes so much longer, in its order, until healed. */
  slow(from: SimulatedClient | Server, to: SimulatedClient | Server, byMs: number): void {
    this.record(from.name, `reaches ${to.name} ${byMs.toFixed()} ms later`);
    this.#network.slow(hostOf(from), hostOf(to), byMs);
  }

  heal(a: SimulatedClient | Server, b: SimulatedClient | Server): void {
    this.record(a.name, `and ${b.name} reach one another again`);
    this.#network.heal(hostOf(a), hostOf(b));
  }

  healAll(): void {
    this.record('network', 'is whole again');
    this.#network.healAll();
  }

  /** From all other servers: it goes on answering its clients' pings and reads until it notices. */
  cutServer(server: Server): void {
    for (const other of this.servers) if (other !== server) this.cut(server, other);
  }

  healServer(server: Server): void {
    for (const other of this.servers) if (other !== server) this.heal(server, other);
  }

  /** From every server, or from the one that is named. */
  cutClient(client: SimulatedClient, server?: Server): void {
    for (const each of server === undefined ? this.servers : [server]) this.cut(client, each);
  }

  healClient(client: SimulatedClient, server?: Server): void {
    for (const each of server === undefined ? this.servers : [server]) this.heal(client, each);
  }

  /** The serving server that leads, or null. One that is cut off believes it for a while: the newest epoch counts. */
  leader(): Server | null {
    const leaders = this.servers.filter((server) => server.serving && server.leadership !== null);
    return leaders.reduce<Server | null>((best, server) => (best && best.epoch > server.epoch ? best : server), null);
  }

  /** The leader steps down, another one is elected if the logs allow it; every session's clock starts afresh. */
  changeLeader(): void {
    const leader = this.leader();
    if (leader === null) return;
    this.#elector.avoid(leader);
    leader.look('told to step down');
  }

  /** A node as of the newest transaction applied anywhere. */
  inspect(path: string): NodeData | null {
    const node = this.#newestServer().tree.get(path);
    return node === undefined ? null : { data: node.data, stat: statOf(node) };
  }

  /** Names of the children, sorted, as of the newest transaction applied anywhere. */
  childrenOf(path: string): string[] {
    return [...(this.#newestServer().tree.get(path)?.children ?? [])].sort();
  }

  #newestServer(): Server {
    return this.servers.reduce((best, server) => (server.tree.zxid > best.tree.zxid ? server : best));
  }

  #committed(transaction: Transaction, outcome: Outcome): void {
    if (transaction.zxid <= this.#newest) return;
    this.#newest = transaction.zxid;
    this.#onCommit?.(transaction, outcome);
    this.operator.committed(transaction.submission, outcome);
  }
}

/** @see World */
export function createWorld(options: WorldOptions): World {
  return new World(options);
}

const USUAL_DELAYS: Delays = { low: 0.1, high: 1.5, spike: 40, spikeChance: 0.01 };

function hostOf(party: SimulatedClient | Server): Host {
  return party instanceof SimulatedClient ? party.host : party;
}
