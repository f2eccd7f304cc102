import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Workspace, workspace } from './directory.js';
import { leaseGivenPort, leasePort, type PortLease } from './ports.js';
import { findPostgres, type PostgresBinaries } from './postgres-binaries.js';
import { lastLines, launch, type ManagedProcess, ServerFailedError } from './process.js';
import { waitFor } from './wait.js';

const run = promisify(execFile);

export interface PostgresOptions {
  /** Where data and log go, and stay. Default: a temporary folder that `close` removes. */
  readonly directory?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Whether a commit waits for the disk, as in production. Default false: a killed server loses nothing without it, only a lost machine does. */
  readonly fsync?: boolean;
  /** More of postgresql.conf: `{ log_statement: 'all' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Milliseconds until the start is given up. Default 30000. */
  readonly timeoutMs?: number;
  /** Told what goes on, a line at a time. */
  readonly onProgress?: (line: string) => void;
}

/** What a client of PostgreSQL needs, by the names that `pg` uses. */
export interface PostgresConfig {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** A user other than root: PostgreSQL refuses to run as root. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const passwd = readFileSync('/etc/passwd', 'utf8');
  for (const name of ['postgres', 'nobody']) {
    const entry = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(passwd);
    if (entry) return { uid: Number(entry[1]), gid: Number(entry[2]) };
  }
  throw new Error(
    "PostgreSQL doesn't run as root, and /etc/passwd has neither a user postgres nor nobody: add one of them",
  );
}

/** One PostgreSQL server, running or not. Its port and its data stay the same from one start to the next. */
export class Postgres implements AsyncDisposable {
  readonly config: PostgresConfig;
  readonly logFile: string;
  readonly #binaries: PostgresBinaries;
  readonly #account: Account | undefined;
  readonly #workspace: Workspace;
  readonly #lease: PortLease;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  #process: ManagedProcess | undefined;

  constructor(home: Workspace, lease: PortLease, options: PostgresOptions) {
    this.config = { host: '127.0.0.1', port: lease.port, user: 'postgres', password: 'tenure', database: 'postgres' };
    this.logFile = join(home.path, 'postgres.log');
    this.#binaries = findPostgres();
    this.#account = unprivilegedAccount();
    this.#workspace = home;
    this.#lease = lease;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#settings = {
      listen_addresses: this.config.host,
      unix_socket_directories: '',
      shared_buffers: '32MB',
      ...(options.fsync ? {} : { fsync: 'off', full_page_writes: 'off' }),
      ...options.settings,
    };
  }

  get host(): string {
    return this.config.host;
  }
  get port(): number {
    return this.config.port;
  }
  /** `postgres://user:password@host:port/database`. */
  get url(): string {
    const { user, password, host, port, database } = this.config;
    return `postgres://${user}:${password}@${host}:${port}/${database}`;
  }
  /** Undefined while it doesn't run. */
  get pid(): number | undefined {
    return this.running ? this.#process?.pid : undefined;
  }
  get running(): boolean {
    return this.#process?.running ?? false;
  }
  get #data(): string {
    return join(this.#workspace.path, 'data');
  }

  /** Starts it, the first time with an empty database, and waits until it answers. */
  async start(): Promise<void> {
    if (this.running) throw new Error('PostgreSQL runs already');
    if (!existsSync(join(this.#data, 'PG_VERSION'))) await this.#initialise();
    const settings = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // The last server's own processes may still be on their way out after a kill, and hold its memory: once more, then.
    await waitFor(() => this.#tryStart(['-D', this.#data, '-p', String(this.port), ...settings]), {
      what: 'PostgreSQL to start',
      timeoutMs: this.#timeoutMs,
      intervalMs: 100,
    }).catch(async (error: Error) => {
      await this.kill();
      throw error instanceof ServerFailedError ? error : new ServerFailedError(error.message, this.logFile);
    });
  }

  /** An orderly end ("fast shutdown"): open transactions are rolled back. */
  async stop(): Promise<void> {
    await this.#process?.stop('SIGINT');
  }

  /** Stops it, if it runs, and starts it again with its data. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** SIGKILL for the server; its own processes end as soon as they notice. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Ends it and removes the temporary folder. */
  async close(): Promise<void> {
    await this.#process?.stop('SIGQUIT', 3_000);
    this.#lease.release();
    this.#workspace.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #initialise(): Promise<void> {
    const passwordFile = join(this.#workspace.path, 'password');
    mkdirSync(this.#data, { recursive: true, mode: 0o700 });
    writeFileSync(passwordFile, `${this.config.password}\n`);
    chmodSync(passwordFile, 0o644);
    if (this.#account) chownSync(this.#data, this.#account.uid, this.#account.gid);
    const words = ['--no-sync', '--encoding=UTF8', '--locale=C', '--auth=scram-sha-256'];
    try {
      await run(
        this.#binaries.initdb,
        ['-D', this.#data, `--username=${this.config.user}`, `--pwfile=${passwordFile}`, ...words],
        { ...this.#account, cwd: this.#workspace.path, env: { ...process.env, LC_ALL: 'C' } },
      );
    } catch (error) {
      const { stderr = '', message } = error as { stderr?: string; message: string };
      appendFileSync(this.logFile, `${message}\n${stderr}\n`);
      throw new ServerFailedError("PostgreSQL's initdb failed", this.logFile);
    } finally {
      rmSync(passwordFile, { force: true });
    }
  }

  /** Whether it came up; false when it has to be tried again. */
  async #tryStart(args: string[]): Promise<boolean> {
    this.#process = await launch({
      name: 'PostgreSQL',
      command: this.#binaries.postgres,
      args,
      logFile: this.logFile,
      cwd: this.#workspace.path,
      env: { ...process.env, LC_ALL: 'C' },
      // Unlike SIGKILL this one lets it end its own processes and give back its shared memory.
      deathSignal: 'SIGQUIT',
      ...this.#account,
    });
    const started = this.#process;
    return waitFor(
      async () => {
        if (await this.#answers()) return 'up';
        if (started.running) return undefined;
        const failure = new ServerFailedError(`PostgreSQL ended (${started.exit})`, this.logFile);
        // Many connections that were cut off write many lines behind the one that says why.
        const why = lastLines(this.logFile, 500);
        if (!/shared memory block|lock file "postmaster.pid"/.test(why)) throw failure;
        return 'again';
      },
      { what: 'PostgreSQL to answer', timeoutMs: this.#timeoutMs },
    ).then((outcome) => outcome === 'up');
  }

  async #answers(): Promise<boolean> {
    const client = new pg.Client({ ...this.config, connectionTimeoutMillis: 1_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** Starts a PostgreSQL server with an empty database on a free port of this machine, and waits until it answers. */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const start = performance.now();
  const progress = options.onProgress ?? (() => {});
  const lease = await (options.port === undefined ? leasePort() : leaseGivenPort(options.port));
  const home = workspace('postgres', options.directory);
  try {
    const server = new Postgres(home, lease, options);
    progress(`starting PostgreSQL in ${home.path}`);
    await server.start();
    progress(`PostgreSQL serves at ${server.url} after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    return server;
  } catch (error) {
    lease.release();
    throw error;
  }
}
