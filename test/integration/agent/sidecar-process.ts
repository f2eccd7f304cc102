import { type ChildProcess, spawn } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compileSource } from '../../../bench/compiled.js';
import { onExit, waitFor } from '../../../deploy/local/index.js';

export interface SidecarOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Where it listens on a Unix socket: requests go there. */
  readonly socket?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it is JSON; text otherwise. */
  // biome-ignore lint/suspicious/noExplicitAny: what it holds is what the tests look at
  readonly body: any;
}

export interface Ask {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object goes out as JSON, text as it is. */
  readonly body?: object | string;
}

/** `tenure agent` in a process of its own. Answers that break the OpenAPI document come as 500. It doesn't outlive this one. */
export class SidecarProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly exited: Promise<number | NodeJS.Signals>;
  /** What it has written to standard error. */
  log = '';
  url = '';
  #gone = false;

  private constructor(child: ChildProcess) {
    this.child = child;
    const forget = onExit(() => child.kill('SIGKILL'));
    child.stderr?.on('data', (text) => {
      this.log += text;
    });
    this.exited = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#gone = true;
        forget();
        resolve(signal ?? code ?? -1);
      });
    });
  }

  /** Without waiting until it listens. */
  static spawn(servers: string, { args = [], env = {}, socket }: SidecarOptions = {}): SidecarProcess {
    const where = socket === undefined ? ['--listen', '127.0.0.1:0'] : ['--socket', socket];
    const listen = args.includes('--listen') ? [] : where;
    const main = join(compileSource(), 'cli/main.js');
    const words = [main, 'agent', '--servers', servers, '--validate-responses', ...listen, ...args];
    const child = spawn(process.execPath, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    return new SidecarProcess(child);
  }

  static async start(servers: string, options: SidecarOptions = {}): Promise<SidecarProcess> {
    const sidecar = SidecarProcess.spawn(servers, options);
    const { stdout } = sidecar.child;
    if (stdout === null) throw new Error('it says where it listens on standard output');
    createInterface({ input: stdout }).on('line', (line) => {
      sidecar.url = /^listening on (\S+)$/.exec(line)?.[1] ?? sidecar.url;
    });
    await waitFor(() => sidecar.#gone || sidecar.url !== '', { what: 'a sidecar to listen', timeoutMs: 100_000 });
    if (sidecar.#gone) throw new Error(`the sidecar has ended: ${sidecar.log}`);
    return sidecar;
  }

  async ready(): Promise<this> {
    await waitFor(async () => (await this.ask('GET', '/readyz')).status === 200, { what: 'a sidecar to be ready' });
    return this;
  }

  async ask(method: string, path: string, { key, headers = {}, body }: Ask = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'candidacy-key': key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    const json = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: json && text !== '' ? JSON.parse(text) : text };
  }

  /** As {@link ask}, with headers that fetch doesn't let anybody set, and the path as it is. */
  raw(method: string, path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
    const { hostname, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const request = httpRequest({ hostname, port, path, method, headers }, (response) => {
        let body = '';
        response.on('data', (text) => {
          body += text;
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
      request.once('error', reject);
      request.end();
    });
  }

  /** Joins, and expects that to work. */
  async join(name: string, id: string, body: object = { hold: 'ttl', ttlMs: 20_000 }): Promise<Client> {
    const path = `/v1/elections/${encodeURIComponent(name)}/candidacy?id=${encodeURIComponent(id)}`;
    const { status, body: answer } = await this.ask('PUT', path, { body });
    if (status !== 201) throw new Error(`${id} could not join ${name}: ${status} ${JSON.stringify(answer)}`);
    return new Client(this, path, name, id, answer.key);
  }

  /** Has them join one after the other: the first leads. An answer to PUT says nothing of the place in the queue yet. */
  async line(name: string, ids: readonly string[], body?: object): Promise<Client[]> {
    const clients: Client[] = [];
    for (const id of ids) {
      const client = await this.join(name, id, body);
      await client.until(clients.length === 0 ? 'leading' : 'waiting');
      clients.push(client);
    }
    return clients;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGCONT');
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 20_000);
    await this.exited;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

/** One who has joined. */
export class Client {
  readonly #sidecar: SidecarProcess;
  readonly path: string;
  readonly election: string;
  readonly id: string;
  readonly key: string;

  constructor(sidecar: SidecarProcess, path: string, election: string, id: string, key: string) {
    this.#sidecar = sidecar;
    this.path = path;
    this.election = election;
    this.id = id;
    this.key = key;
  }

  put(body: object = {}): Promise<Answer> {
    return this.#sidecar.ask('PUT', this.path, { key: this.key, body });
  }

  get(): Promise<Answer> {
    return this.#sidecar.ask('GET', this.path, { key: this.key });
  }

  leave(): Promise<Answer> {
    return this.#sidecar.ask('DELETE', this.path, { key: this.key });
  }

  /** Asks, which keeps its deadline, until it is in that state. */
  async until(state: string, timeoutMs = 60_000): Promise<Answer['body']> {
    return waitFor(
      async () => {
        const { body } = await this.get();
        return body.state === state && body;
      },
      { what: `${this.id} to be ${state}`, timeoutMs },
    );
  }

  get events(): string {
    return `/v1/elections/${encodeURIComponent(this.election)}/events?id=${encodeURIComponent(this.id)}`;
  }
}
