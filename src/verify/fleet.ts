import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeCandidate } from '../election/candidate.js';
import { electionPaths, sessionsPath } from '../election/names.js';
import type { Session } from '../election/port.js';
import type { ConnectOptions, Election } from '../index.js';
import { parseConnectString } from '../zookeeper/servers.js';
import type { Arena, Seat } from './arena.js';
import { Book } from './book.js';
import { FileLedger } from './file-ledger.js';
import { Hands } from './hands.js';
import type { Aftermath, Happening } from './history.js';
import { Lines } from './lines.js';
import { monotonicMs, until } from './monotonic.js';
import { programOf } from './program.js';
import type { FileParameters } from './worker.js';
import { WorkerProcess } from './worker-process.js';

/** In no other path than its own: a fault looks for it in packets. */
const ELECTION = 'torment';

/** How long it may take to look at the znodes at the end: somebody may be restarting servers. */
const REACH_MS = 60_000;

export interface FleetOptions {
  /** How workers connect; `root` is theirs alone, and removed in the end. */
  readonly connect: ConnectOptions & { readonly root: string };
  readonly workers: number;
  /** What runs a worker, told of {@link FileParameters} by its standard input. Default: the program that comes with us. */
  readonly worker?: readonly string[];
}

interface FleetSeat extends Seat {
  lives: number;
  worker: WorkerProcess | undefined;
}

/** Workers of our own at somebody's ensemble, each with a proxy before each server, and a ledger in a temporary directory. */
export class Fleet implements Arena<FleetSeat> {
  readonly election = ELECTION;
  readonly root: string;
  /** Servers are left alone. */
  readonly servers = 0;
  readonly book = new Book();
  readonly seats: readonly FleetSeat[];
  readonly ledger: FileLedger;
  readonly hands: Hands;
  readonly #options: FleetOptions;
  readonly #chroot: string;
  readonly #directory: string;
  readonly #lines: Lines | null;
  #closed = false;

  private constructor(
    options: FleetOptions,
    parts: { hands: Hands; directory: string; lines: Lines | null; seats: readonly FleetSeat[] },
  ) {
    this.#options = options;
    this.#chroot = parseConnectString(options.connect.servers).chroot;
    this.root = this.#chroot + options.connect.root;
    this.hands = parts.hands;
    this.seats = parts.seats;
    this.#directory = parts.directory;
    this.#lines = parts.lines;
    this.ledger = new FileLedger(parts.directory);
  }

  /** @throws as {@link connect} */
  static async open(options: FleetOptions, signal: AbortSignal): Promise<Fleet> {
    const hands = await Hands.open({ ...options.connect, signal });
    const { servers } = parseConnectString(options.connect.servers);
    // A certificate is made out to its server's name, and not to ours.
    const lines = options.connect.tls === undefined ? new Lines() : null;
    const seats: FleetSeat[] = [];
    for (let i = 1; i <= options.workers; i++) {
      const through =
        lines === null ? [] : await Promise.all(servers.map(({ host, port }) => lines.to({ host, clientPort: port })));
      seats.push({ name: `w${i}`, lines: through, lives: 0, worker: undefined });
    }
    const directory = await mkdtemp(join(tmpdir(), 'tenure-verify-'));
    return new Fleet(options, { hands, directory, lines, seats });
  }

  get happenings(): Happening[] {
    return this.book.happenings;
  }

  get sessionTimeoutMs(): number {
    return this.hands.sessionTimeoutMs;
  }

  get awake(): FleetSeat[] {
    return this.seats.filter(({ worker }) => worker?.ready && !worker.gone && !worker.frozen);
  }

  get leader(): FleetSeat | undefined {
    const { leader } = this.book;
    return this.seats.find(({ worker }) => worker?.who === leader && worker?.gone === false);
  }

  start(seat: FleetSeat): void {
    if (this.#closed) return;
    const who = `${seat.name}.${++seat.lives}`;
    const { connect, worker: words } = this.#options;
    const through = seat.lines.length === 0 ? undefined : seat.lines.map(({ address }) => address).join(',');
    const parameters: FileParameters = {
      connect: through === undefined ? connect : { ...connect, servers: through + this.#chroot },
      election: ELECTION,
      who,
      directory: this.#directory,
    };
    const command = words ?? [process.execPath, ...programOf(new URL('./worker.js', import.meta.url))];
    const worker = new WorkerProcess({ words: command }, parameters, (told) => this.book.hear(told, who));
    void worker.exited.then(() => this.happenings.push({ type: 'process', who, what: 'ended', at: monotonicMs() }));
    seat.worker = worker;
  }

  async byHand<R>(act: (session: Session) => Promise<R>): Promise<R | undefined> {
    try {
      return await this.hands.byHand(act);
    } catch {
      // Out of reach for now, or somebody was faster.
      return undefined;
    }
  }

  async order<R>(give: (election: Election) => Promise<R>): Promise<R | undefined> {
    try {
      return await give(this.hands.tenure.election(ELECTION, { id: 'operator' }));
    } catch {
      return undefined;
    }
  }

  /** @returns whether every seat has a worker that is ready, in time */
  everybodyReady(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    return until(() => this.seats.every(({ worker }) => worker?.ready && !worker.gone), timeoutMs, signal);
  }

  /** What there is, while all workers live. Watches are not looked at: others leave some at the servers, too. */
  async aftermath(): Promise<Omit<Aftermath, 'left'>> {
    const { queue } = electionPaths(this.root, ELECTION);
    const found = await this.hands.persistently(async (session) => {
      await session.sync('/');
      const candidates: string[] = [];
      for (const node of (await session.children(queue))?.names ?? []) {
        const read = await session.read(`${queue}/${node}`);
        if (read !== null) candidates.push(decodeCandidate(read.data)?.id ?? node);
      }
      return { candidates, sessionNodes: (await session.children(sessionsPath(this.root)))?.names.length ?? 0 };
    }, REACH_MS);
    const alive = this.seats.flatMap(({ worker }) => (worker !== undefined && !worker.gone ? [worker.who] : []));
    return { ...found, alive, watches: 0, watchesEach: 0 };
  }

  /** Asks all workers to end. @returns what was left behind */
  async stop(timeoutMs: number, signal: AbortSignal): Promise<string[]> {
    for (const { worker } of this.seats) worker?.signal('SIGTERM');
    await until(() => this.seats.every(({ worker }) => worker?.gone ?? true), timeoutMs, signal);
    const lingering = this.seats.flatMap(({ worker }) => (worker?.gone === false ? [`process ${worker.who}`] : []));
    const { queue } = electionPaths(this.root, ELECTION);
    const nodes = await this.hands.persistently(async (session) => {
      await session.sync('/');
      return (await session.children(queue))?.names ?? [];
    }, REACH_MS);
    return [...lingering, ...nodes.map((node) => `candidate ${node}`), ...this.book.failures];
  }

  /** Ends whatever still runs and removes all that was made. @returns whether the root is gone from the ensemble */
  async close(): Promise<boolean> {
    this.#closed = true;
    for (const { worker } of this.seats) worker?.signal('SIGKILL');
    await Promise.all(this.seats.map(({ worker }) => worker?.exited));
    // Those who end the sessions of killed workers go through the lines.
    for (const { lines } of this.seats) await Promise.all(lines.map((line) => line.mend()));
    const removed = await this.hands.removeTree(this.root, 3 * this.sessionTimeoutMs + 5_000);
    await this.hands.close();
    await this.#lines?.close();
    await rm(this.#directory, { recursive: true, force: true });
    return removed;
  }
}
