import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ensemble, type Postgres, startEnsemble, startPostgres, waitFor } from '../../deploy/local/index.js';
import type { Session } from '../../src/election/port.js';
import { connect, type Election } from '../../src/index.js';
import type { Arena } from '../../src/verify/arena.js';
import { Book } from '../../src/verify/book.js';
import type { Happening } from '../../src/verify/history.js';
import { type Line, Lines } from '../../src/verify/lines.js';
import { monotonicMs } from '../../src/verify/monotonic.js';
import { WorkerProcess } from '../../src/verify/worker-process.js';
import { EnsembleWatch } from '../../src/zookeeper/ensemble-watch.js';
import { Operator } from '../support/operator.js';
import { FAKETIME } from './faketime.js';
import { PostgresLedger } from './ledger.js';
import { Members, superuserOption } from './members.js';
import { Network, type NetworkHost } from './network.js';
import type { ChaosParameters } from './worker.js';

export const ELECTION = 'chaos';
const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

export interface FieldOptions {
  readonly servers: 3 | 5;
  readonly workers: number;
  readonly sessionTimeoutMs: number;
  readonly tickTimeMs: number;
  /** Of the workers; both where left out. */
  readonly driver?: 'native' | 'wire';
}

/** A place for one worker: its host, its lines to the servers, its wall clock, and who works there now. */
export interface Seat {
  readonly name: string;
  readonly number: number;
  readonly host: NetworkHost;
  /** To each server, where its packets go through a process that can hold and lose single ones; empty where they go straight. */
  readonly lines: readonly Line[];
  readonly clockFile: string;
  lives: number;
  worker: WorkerProcess | undefined;
}

/**
 * Where it all happens: an ensemble, workers and a resource, each on a host of its own, on one bridge. The resource is reached through a
 * file, so that no fault of the network touches it: what a cut-off worker does to it is the point.
 */
export class Field implements Arena<Seat> {
  readonly election = ELECTION;
  readonly root = '/tenure';
  readonly options: FieldOptions;
  readonly network: Network;
  readonly ensemble: Ensemble;
  readonly members: Members;
  readonly hosts: readonly NetworkHost[];
  readonly seats: readonly Seat[];
  readonly ledger: PostgresLedger;
  readonly directory: string;
  /** The mount of the first server's disk, which can stall or fill up; undefined where none can be had. */
  readonly disk: string | undefined;
  readonly book = new Book();
  readonly #postgres: Postgres;
  readonly #allLines: readonly Lines[];
  #watch: EnsembleWatch | undefined;

  private constructor(parts: {
    options: FieldOptions;
    network: Network;
    ensemble: Ensemble;
    hosts: readonly NetworkHost[];
    seats: readonly Seat[];
    allLines: readonly Lines[];
    postgres: Postgres;
    ledger: PostgresLedger;
    directory: string;
    disk: string | undefined;
  }) {
    this.options = parts.options;
    this.network = parts.network;
    this.ensemble = parts.ensemble;
    this.members = new Members(parts.ensemble);
    this.hosts = parts.hosts;
    this.seats = parts.seats;
    this.ledger = parts.ledger;
    this.directory = parts.directory;
    this.disk = parts.disk;
    this.#postgres = parts.postgres;
    this.#allLines = parts.allLines;
  }

  static async open(options: FieldOptions): Promise<Field> {
    const directory = mkdtempSync(join(tmpdir(), 'tenure-chaos-'));
    // PostgreSQL has another user.
    chmodSync(directory, 0o755);
    const network = new Network();
    const hosts: NetworkHost[] = [];
    for (let i = 1; i <= options.servers; i++) hosts.push(await network.host(`s${i}`, 10 + i));
    const disk = mountDisk(directory);
    const ensemble = await startEnsemble({
      size: options.servers,
      tickTime: options.tickTimeMs,
      initLimit: 10,
      syncLimit: 4,
      bindHosts: hosts.map(({ address }) => address),
      commandPrefix: (index) => hosts[index]?.prefix ?? [],
      directory: join(directory, 'zookeeper'),
      javaOptions: [superuserOption()],
      fsync: true,
    });
    const socket = join(directory, 'postgres-socket');
    mkdirSync(socket);
    chmodSync(socket, 0o777);
    const postgres = await startPostgres({ settings: { unix_socket_directories: socket, max_connections: '100' } });
    const ledger = new PostgresLedger({ ...postgres.config, host: socket });
    await ledger.open();
    const allLines: Lines[] = [];
    const seats: Seat[] = [];
    for (let i = 1; i <= options.workers; i++) {
      const host = await network.host(`w${i}`, 100 + i);
      const lines: Line[] = [];
      if (i % 2 === 0) {
        const process = new Lines(host.prefix);
        allLines.push(process);
        for (const server of ensemble.servers) lines.push(await process.to(server));
      }
      const clockFile = join(directory, `clock-${i}`);
      writeFileSync(clockFile, '+0');
      seats.push({ name: `w${i}`, number: i, host, lines, clockFile, lives: 0, worker: undefined });
    }
    return new Field({ options, network, ensemble, hosts, seats, allLines, postgres, ledger, directory, disk });
  }

  /** Tells from now on whether there is a quorum. */
  watchQuorum(): void {
    let last: boolean | undefined;
    this.#watch = new EnsembleWatch({
      servers: this.ensemble.servers.map(({ host, clientPort }) => ({ host, port: clientPort })),
      // A majority is one of those who belong to it now.
      readConfig: async () => {
        const now = await this.members.configuration();
        return now === undefined ? Promise.reject(new Error('no server says')) : Buffer.from(now.text);
      },
      intervalMs: 200,
      timeoutMs: 400,
      onHealth: ({ quorumOk }) => {
        if (quorumOk === last) return;
        last = quorumOk;
        this.happenings.push({ type: 'quorum', ok: quorumOk, at: monotonicMs() });
      },
    });
  }

  /** Starts a worker on a seat that is free. */
  start(seat: Seat): void {
    const who = `${seat.name}.${++seat.lives}`;
    const through = seat.lines.length > 0 ? seat.lines : this.ensemble.servers;
    const parameters: ChaosParameters = {
      connect: {
        servers: through.map(({ address }) => address).join(','),
        sessionTimeoutMs: this.options.sessionTimeoutMs,
        driver: this.options.driver ?? (seat.number % 4 < 2 ? 'native' : 'wire'),
      },
      election: ELECTION,
      who,
      postgres: { ...this.#postgres.config, host: join(this.directory, 'postgres-socket') },
    };
    const env = {
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: seat.clockFile,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const words = [...seat.host.prefix, process.execPath, '--import', 'tsx', WORKER];
    const worker = new WorkerProcess({ words, env }, parameters, (told) => this.book.hear(told, who));
    void worker.exited.then(() => this.happenings.push({ type: 'process', who, what: 'ended', at: monotonicMs() }));
    seat.worker = worker;
  }

  /** Those who live, and aren't frozen. */
  get awake(): Seat[] {
    return this.seats.filter(({ worker }) => worker?.ready && !worker.gone && !worker.frozen);
  }

  get leader(): Seat | undefined {
    const { leader } = this.book;
    return this.seats.find(({ worker }) => worker?.who === leader && worker?.gone === false);
  }

  get happenings(): Happening[] {
    return this.book.happenings;
  }

  get sessionTimeoutMs(): number {
    return this.options.sessionTimeoutMs;
  }

  get servers(): number {
    return this.hosts.length;
  }

  /** Does something at the ensemble, in a session of its own. */
  async operate<R>(act: (operator: Operator) => Promise<R>, connectTimeoutMs = 60_000): Promise<R> {
    const operator = await Operator.at(this.ensemble.connectString, { connectTimeoutMs });
    try {
      return await act(operator);
    } finally {
      await operator.close();
    }
  }

  /** As {@link operate}; undefined where there is no quorum now, or somebody was faster. */
  async atOnce<R>(act: (operator: Operator) => Promise<R>): Promise<R | undefined> {
    try {
      return await this.operate(act, 3_000);
    } catch {
      return undefined;
    }
  }

  byHand<R>(act: (session: Session) => Promise<R>): Promise<R | undefined> {
    return this.atOnce(({ session }) => act(session));
  }

  async order<R>(give: (election: Election) => Promise<R>): Promise<R | undefined> {
    const servers = this.ensemble.connectString;
    try {
      await using tenure = await connect({ servers, driver: 'wire', lifeline: false, connectTimeoutMs: 3_000 });
      return await give(tenure.election(ELECTION, { id: 'operator' }));
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#watch?.stop();
    for (const { worker } of this.seats) worker?.signal('SIGKILL');
    await Promise.all(this.seats.map(({ worker }) => worker?.exited));
    await Promise.all(this.#allLines.map((lines) => lines.close()));
    await this.ensemble.close();
    await this.ledger.close();
    await this.#postgres.close();
    if (this.disk !== undefined) execFileSync('umount', ['-l', this.disk]);
    this.network.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Waits until every seat has a worker that is ready. */
  async everybodyReady(timeoutMs = 60_000): Promise<void> {
    await waitFor(() => this.seats.every(({ worker }) => worker?.ready), { what: 'all workers', timeoutMs });
  }
}

/** A small file system of its own for the first server, where a loop device can be had. */
function mountDisk(directory: string): string | undefined {
  const mount = join(directory, 'zookeeper', 'server-1');
  const image = join(directory, 'disk');
  try {
    mkdirSync(mount, { recursive: true });
    execFileSync('truncate', ['-s', '96M', image]);
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'ignore' });
    execFileSync('mount', ['-o', 'loop', image, mount], { stdio: 'ignore' });
    return mount;
  } catch {
    return undefined;
  }
}
