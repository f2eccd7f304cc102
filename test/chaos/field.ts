import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ensemble, type Postgres, startEnsemble, startPostgres, waitFor } from '../../deploy/local/index.js';
import type { ActSpan, Happening } from '../../src/verify/history.js';
import { EnsembleWatch } from '../../src/zookeeper/ensemble-watch.js';
import { type Line, Lines } from '../support/lines.js';
import { monotonicMs } from '../support/monotonic.js';
import { Operator } from '../support/operator.js';
import { Ledger } from './ledger.js';
import { Network, type NetworkHost } from './network.js';
import type { Told } from './told.js';
import { Tormented } from './tormented.js';

export const ELECTION = 'chaos';
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

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
  readonly clockFile: string | undefined;
  lives: number;
  worker: Tormented | undefined;
}

/**
 * Where it all happens: an ensemble, workers and a resource, each on a host of its own, on one bridge. The resource is reached through a
 * file, so that no fault of the network touches it: what a cut-off worker does to it is the point.
 */
export class Field {
  readonly options: FieldOptions;
  readonly network: Network;
  readonly ensemble: Ensemble;
  readonly hosts: readonly NetworkHost[];
  readonly seats: readonly Seat[];
  readonly ledger: Ledger;
  readonly directory: string;
  /** The mount of the first server's disk, which can stall or fill up; undefined where none can be had. */
  readonly disk: string | undefined;
  readonly happenings: Happening[] = [];
  readonly told: (Told & { readonly who: string })[] = [];
  readonly #postgres: Postgres;
  readonly #allLines: readonly Lines[];
  readonly #acts = new Map<string, ActSpan>();
  #watch: EnsembleWatch | undefined;

  private constructor(parts: {
    options: FieldOptions;
    network: Network;
    ensemble: Ensemble;
    hosts: readonly NetworkHost[];
    seats: readonly Seat[];
    allLines: readonly Lines[];
    postgres: Postgres;
    ledger: Ledger;
    directory: string;
    disk: string | undefined;
  }) {
    this.options = parts.options;
    this.network = parts.network;
    this.ensemble = parts.ensemble;
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
      fsync: true,
    });
    const socket = join(directory, 'postgres-socket');
    mkdirSync(socket);
    chmodSync(socket, 0o777);
    const postgres = await startPostgres({ settings: { unix_socket_directories: socket, max_connections: '100' } });
    const ledger = new Ledger({ ...postgres.config, host: socket });
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
      const clockFile = existsSync(FAKETIME) ? join(directory, `clock-${i}`) : undefined;
      if (clockFile !== undefined) writeFileSync(clockFile, '+0');
      seats.push({ name: `w${i}`, number: i, host, lines, clockFile, lives: 0, worker: undefined });
    }
    return new Field({ options, network, ensemble, hosts, seats, allLines, postgres, ledger, directory, disk });
  }

  /** Tells from now on whether there is a quorum. */
  watchQuorum(): void {
    let last: boolean | undefined;
    this.#watch = new EnsembleWatch({
      servers: this.ensemble.servers.map(({ host, clientPort }) => ({ host, port: clientPort })),
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
  start(seat: Seat): Tormented {
    const who = `${seat.name}.${++seat.lives}`;
    const through = seat.lines.length > 0 ? seat.lines : this.ensemble.servers;
    const parameters = {
      servers: through.map(({ address }) => address).join(','),
      election: ELECTION,
      who,
      sessionTimeoutMs: this.options.sessionTimeoutMs,
      driver: this.options.driver ?? (seat.number % 4 < 2 ? 'native' : 'wire'),
      postgres: { ...this.#postgres.config, host: join(this.directory, 'postgres-socket') },
    };
    const env =
      seat.clockFile === undefined
        ? {}
        : {
            LD_PRELOAD: FAKETIME,
            FAKETIME_TIMESTAMP_FILE: seat.clockFile,
            FAKETIME_NO_CACHE: '1',
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
          };
    const worker = new Tormented(parameters, seat.host.prefix, env, (told) => this.#hear(told, who));
    void worker.exited.then(() => this.happenings.push({ type: 'process', who, what: 'ended', at: monotonicMs() }));
    seat.worker = worker;
    return worker;
  }

  /** Those who live, and aren't frozen. */
  get awake(): Seat[] {
    return this.seats.filter(({ worker }) => worker?.ready && !worker.gone && !worker.frozen);
  }

  /** Who acted last. */
  get leader(): Seat | undefined {
    const last = [...this.#acts.values()].reduce<ActSpan | undefined>(
      (newest, span) => (newest === undefined || BigInt(span.token) > BigInt(newest.token) ? span : newest),
      undefined,
    );
    return this.seats.find(({ worker }) => worker?.who === last?.who && worker?.gone === false);
  }

  get acts(): ActSpan[] {
    return [...this.#acts.values()];
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

  #hear(told: Told, who: string): void {
    this.told.push({ ...told, who });
    const { at } = told;
    if (told.type === 'act') {
      const { term, token } = told;
      const key = `${who} ${token}`;
      const known = this.#acts.get(key);
      this.#acts.set(key, {
        who,
        term,
        token,
        first: Math.min(known?.first ?? at, at),
        last: Math.max(known?.last ?? at, at),
      });
    } else if (told.type === 'ready') this.happenings.push({ type: 'process', who, what: 'ready', at });
    else if (told.type === 'term') this.happenings.push({ ...told, who });
    else if (told.type === 'refused') this.happenings.push({ ...told, who });
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
