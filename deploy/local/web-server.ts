import { join } from 'node:path';
import { type Workspace, workspace } from './directory.js';
import { MissingToolError } from './missing-tool.js';
import { leaseGivenPort, leasePort, type PortLease } from './ports.js';
import { findCommand, launch, type ManagedProcess, ServerFailedError } from './process.js';
import { waitFor } from './wait.js';

export interface WebServerOptions {
  /** The server's configuration. Files that it names are found relative to it. */
  readonly configFile: string;
  /** Where data and log go, and stay. Default: a temporary folder that `close` removes. */
  readonly directory?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** More options of the command. */
  readonly args?: readonly string[];
  /** Milliseconds until the start is given up. Default 20000. */
  readonly timeoutMs?: number;
  /** Told what goes on, a line at a time. */
  readonly onProgress?: (line: string) => void;
}

/** What one kind of server is. */
interface Kind {
  readonly name: string;
  readonly command: string;
  readonly debianPackage: string;
  args(place: { readonly listen: string; readonly data: string; readonly configFile: string }): readonly string[];
}

/** Prometheus or Alertmanager, running or not. Its port and its folder stay the same from one start to the next. */
export class WebServer implements AsyncDisposable {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly logFile: string;
  readonly #kind: Kind;
  readonly #command: string;
  readonly #options: WebServerOptions;
  readonly #workspace: Workspace;
  readonly #lease: PortLease;
  #process: ManagedProcess | undefined;

  private constructor(kind: Kind, command: string, home: Workspace, lease: PortLease, options: WebServerOptions) {
    this.port = lease.port;
    this.logFile = join(home.path, `${kind.command}.log`);
    this.#kind = kind;
    this.#command = command;
    this.#workspace = home;
    this.#lease = lease;
    this.#options = options;
  }

  static async start(kind: Kind, options: WebServerOptions): Promise<WebServer> {
    const command = findCommand(kind.command);
    if (!command)
      throw new MissingToolError(
        `no ${kind.command} found: install ${kind.name} (Debian: apt-get install ${kind.debianPackage})`,
      );
    const lease = await (options.port === undefined ? leasePort() : leaseGivenPort(options.port));
    try {
      const server = new WebServer(kind, command, workspace(kind.command, options.directory), lease, options);
      await server.start();
      options.onProgress?.(`${kind.name} serves at ${server.url}`);
      return server;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /** `http://host:port`. */
  get url(): string {
    return `http://${this.host}:${this.port}`;
  }
  /** Undefined while it doesn't run. */
  get pid(): number | undefined {
    return this.running ? this.#process?.pid : undefined;
  }
  get running(): boolean {
    return this.#process?.running ?? false;
  }

  /** Starts it and waits until it is ready. */
  async start(): Promise<void> {
    const { name } = this.#kind;
    if (this.running) throw new Error(`${name} runs already`);
    const { args = [], configFile, timeoutMs = 20_000 } = this.#options;
    const place = {
      listen: `${this.host}:${this.port}`,
      data: join(this.#workspace.path, 'data'),
      configFile,
    };
    const started = await launch({
      name,
      command: this.#command,
      args: [...this.#kind.args(place), ...args],
      logFile: this.logFile,
      cwd: this.#workspace.path,
    });
    this.#process = started;
    await waitFor(
      async () => {
        if (!started.running) throw new ServerFailedError(`${name} ended (${started.exit})`, this.logFile);
        return this.#ready();
      },
      { what: `${name} to be ready`, timeoutMs, intervalMs: 50 },
    ).catch(async (error: Error) => {
      await started.kill();
      throw error instanceof ServerFailedError ? error : new ServerFailedError(error.message, this.logFile);
    });
  }

  async #ready(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.url}/-/ready`, { signal: AbortSignal.timeout(2_000) });
      await answer.arrayBuffer();
      return answer.ok;
    } catch {
      return false;
    }
  }

  /** A GET below the server's address. Rejects on any status but 2xx, with the answer's text. */
  async get(path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const url = `${this.url}${path}?${new URLSearchParams(query)}`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Reads the configuration, and the rules that it names, again. */
  async reload(): Promise<void> {
    const url = `${this.url}/-/reload`;
    const answer = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  }

  /** An orderly end. */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** Stops it, if it runs, and starts it again with its data. */
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
