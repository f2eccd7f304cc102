import { join } from 'node:path';
import { type Workspace, workspace } from './directory.js';
import { exchange } from './exchange.js';
import { MissingToolError } from './missing-tool.js';
import { leaseGivenPort, leasePort, type PortLease } from './ports.js';
import { findCommand, launch, type ManagedProcess, ServerFailedError } from './process.js';
import { waitFor } from './wait.js';

export interface RedisOptions {
  /** Where data and log go, and stay. Default: a temporary folder that `close` removes. */
  readonly directory?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Whether each write is kept in a file before it is answered, so that a restart keeps it, be it after a kill. Default false: a new start is empty. */
  readonly appendOnly?: boolean;
  /** More options: `['--maxmemory', '10mb']`. */
  readonly args?: readonly string[];
  /** Milliseconds until the start is given up. Default 10000. */
  readonly timeoutMs?: number;
  /** Told what goes on, a line at a time. */
  readonly onProgress?: (line: string) => void;
}

/** One Redis server, running or not. Its port and its folder stay the same from one start to the next. */
export class Redis implements AsyncDisposable {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly logFile: string;
  readonly #command: string;
  readonly #options: RedisOptions;
  readonly #workspace: Workspace;
  readonly #lease: PortLease;
  #process: ManagedProcess | undefined;

  constructor(command: string, home: Workspace, lease: PortLease, options: RedisOptions) {
    this.port = lease.port;
    this.logFile = join(home.path, 'redis.log');
    this.#command = command;
    this.#workspace = home;
    this.#lease = lease;
    this.#options = options;
  }

  /** `redis://host:port`. */
  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }
  /** Undefined while it doesn't run. */
  get pid(): number | undefined {
    return this.running ? this.#process?.pid : undefined;
  }
  get running(): boolean {
    return this.#process?.running ?? false;
  }

  /** Starts it and waits until it answers. */
  async start(): Promise<void> {
    if (this.running) throw new Error('Redis runs already');
    const { appendOnly = false, args = [], timeoutMs = 10_000 } = this.#options;
    const words = ['--bind', this.host, '--port', String(this.port), '--dir', this.#workspace.path, '--save', ''];
    words.push('--appendonly', appendOnly ? 'yes' : 'no', '--appendfsync', 'always', '--daemonize', 'no');
    const started = await launch({
      name: 'Redis',
      command: this.#command,
      args: [...words, ...args],
      logFile: this.logFile,
    });
    this.#process = started;
    await waitFor(
      async () => {
        if (!started.running) throw new ServerFailedError(`Redis ended (${started.exit})`, this.logFile);
        return (
          (await exchange(this.host, this.port, 'PING\r\n', (answer) => answer.endsWith('\r\n')).catch(() => '')) ===
          '+PONG\r\n'
        );
      },
      { what: 'Redis to answer', timeoutMs },
    ).catch(async (error: Error) => {
      await started.kill();
      throw error instanceof ServerFailedError ? error : new ServerFailedError(error.message, this.logFile);
    });
  }

  /** An orderly end. */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** Stops it, if it runs, and starts it again: with its data when it is append-only, else empty. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** SIGKILL; resolves once the process is gone. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** SIGSTOP: it answers nothing, and its connections stay open. */
  freeze(): void {
    this.#process?.freeze();
  }

  /** SIGCONT. */
  thaw(): void {
    this.#process?.thaw();
  }

  /** Ends it and removes the temporary folder. */
  async close(): Promise<void> {
    await this.kill();
    this.#lease.release();
    this.#workspace.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Starts an empty Redis server on a free port of this machine, and waits until it answers. */
export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  const command = findCommand('redis-server');
  if (!command)
    throw new MissingToolError('no redis-server found: install Redis (Debian: apt-get install redis-server)');
  const lease = await (options.port === undefined ? leasePort() : leaseGivenPort(options.port));
  const home = workspace('redis', options.directory);
  try {
    const server = new Redis(command, home, lease, options);
    await server.start();
    options.onProgress?.(`Redis serves at ${server.url}`);
    return server;
  } catch (error) {
    lease.release();
    throw error;
  }
}
