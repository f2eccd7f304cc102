import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  launch,
  leasePort,
  type ManagedProcess,
  type PortLease,
  type PostgresConfig,
  waitFor,
} from '../local/index.js';

const PROGRAM = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** What all workers are told; see settings.ts. */
export interface Surroundings {
  readonly servers: string;
  readonly sessionTimeoutMs: number;
  readonly probeMs: number;
  readonly postgres: PostgresConfig;
}

/** One worker, running or not. Its port stays the same from one start to the next, so that Prometheus finds it again. */
export class Worker {
  readonly name: string;
  readonly #lease: PortLease;
  readonly #logFile: string;
  #process: ManagedProcess | undefined;

  private constructor(name: string, lease: PortLease, logFile: string) {
    this.name = name;
    this.#lease = lease;
    this.#logFile = logFile;
  }

  static async at(name: string, directory: string): Promise<Worker> {
    return new Worker(name, await leasePort(), join(directory, `${name}.log`));
  }

  /** `host:port` of its metrics. */
  get address(): string {
    return `127.0.0.1:${this.#lease.port}`;
  }

  get pid(): number | undefined {
    return this.#process?.running ? this.#process.pid : undefined;
  }

  async start({ servers, sessionTimeoutMs, probeMs, postgres }: Surroundings): Promise<void> {
    this.#process = await launch({
      name: this.name,
      command: process.execPath,
      args: ['--import', 'tsx', PROGRAM],
      env: {
        ...process.env,
        WORKER_NAME: this.name,
        PAGES_PORT: String(this.#lease.port),
        ZK_SERVERS: servers,
        SESSION_TIMEOUT_MS: String(sessionTimeoutMs),
        PROBE_MS: String(probeMs),
        PGHOST: postgres.host,
        PGPORT: String(postgres.port),
        PGUSER: postgres.user,
        PGPASSWORD: postgres.password,
        PGDATABASE: postgres.database,
      },
      logFile: this.#logFile,
    });
  }

  /** Waits until it shows metrics of a session. */
  async waitUntilServing(timeoutMs = 30_000): Promise<void> {
    await waitFor(
      async () => {
        if (this.pid === undefined)
          throw new Error(`${this.name} ended (${this.#process?.exit}): see ${this.#logFile}`);
        const page = await fetch(`http://${this.address}/metrics`)
          .then((answer) => answer.text())
          .catch(() => '');
        return page.includes('leader_election_queue_position');
      },
      { what: `${this.name} to join`, timeoutMs, intervalMs: 100 },
    );
  }

  /** Asks it to hand `settlement` over. */
  handOver(): void {
    if (this.pid !== undefined) process.kill(this.pid, 'SIGUSR2');
  }

  freeze(): void {
    this.#process?.freeze();
  }

  thaw(): void {
    this.#process?.thaw();
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Ends it, in order if that doesn't take long. */
  async close(): Promise<void> {
    await this.#process?.stop('SIGTERM', 5_000);
    this.#lease.release();
  }
}
