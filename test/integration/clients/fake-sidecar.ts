import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';

const KEY = 'the-key';

export interface Asked {
  readonly at: number;
  readonly method: string;
  readonly settled: boolean;
}

/** The state of a candidacy as its client is told it. */
export interface Told {
  readonly state: string;
  readonly leading: boolean;
  readonly term: number | null;
  readonly token: string | null;
  readonly mayActMs: number;
  readonly reason: string | null;
}

export const leading = (token: string, mayActMs = 2_000): Told => {
  return { state: 'leading', leading: true, term: 1, token, mayActMs, reason: null };
};
export const notLeading = (state: string, token: string | null = null, reason: string | null = null): Told => {
  return { state, leading: false, term: token === null ? null : 1, token, mayActMs: 0, reason };
};

/** A sidecar that says what a test wants, when it wants it: for moments at which the real one can't be caught. */
export class FakeSidecar implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** What requests are answered. */
  told: Told = leading('7');
  /** How long an answer is on its way. */
  delayMs = 0;
  /** Answered instead, where it isn't null. Who joins is never told that there is no such candidacy. */
  refuses: { readonly status: number; readonly code: string } | null = null;
  version = 1;
  /** How many streams have been opened. */
  opened = 0;
  readonly #streams = new Set<ServerResponse>();
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  static async start(): Promise<FakeSidecar> {
    const sidecar = new FakeSidecar();
    await new Promise<void>((resolve) => sidecar.#server.listen(0, '127.0.0.1', resolve));
    return sidecar;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Tells it on the stream. @param version that of a later state, unless said otherwise */
  event(told: Told, version = ++this.version): void {
    this.send('candidacy', JSON.stringify({ ...told, previous: null, version }));
  }

  send(event: string, data: string): void {
    for (const stream of this.#streams) stream.write(`event: ${event}\ndata: ${data}\n\n`);
  }

  /** From now on, everywhere. */
  tell(told: Told): void {
    this.told = told;
    this.event(told);
  }

  get streams(): number {
    return this.#streams.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    if (url.includes('/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      this.#streams.add(response);
      this.opened += 1;
      response.once('close', () => this.#streams.delete(response));
      return;
    }
    let body = '';
    for await (const piece of request) body += piece;
    const settled = body !== '' && JSON.parse(body).settled === true;
    this.asked.push({ at: monotonicMs(), method, settled });
    const { told, version, refuses } = this;
    await sleep(this.delayMs);
    if (method === 'DELETE') {
      response.writeHead(204).end();
      return;
    }
    const created = request.headers['candidacy-key'] === undefined;
    const [status, answer] =
      refuses === null || (created && refuses.status === 404)
        ? [created ? 201 : 200, { ...told, key: KEY, previous: null, version }]
        : [refuses.status, { code: refuses.code, detail: 'as the test wants it' }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }
}
