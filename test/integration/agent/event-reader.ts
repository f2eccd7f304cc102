import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { waitFor } from '../../../deploy/local/index.js';
import { monotonicMs } from '../../../src/verify/monotonic.js';

export interface SeenEvent {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what it holds is what the tests look at
  readonly data: any;
  readonly at: number;
}

/** Reads a stream of server-sent events. */
export class EventReader {
  readonly events: SeenEvent[] = [];
  comments = 0;
  closed = false;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.#response = response;
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) this.#read(block);
    });
    response.once('close', () => {
      this.closed = true;
    });
    response.on('error', () => {});
  }

  static open(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const asked = request(url, { headers, agent: false }, (response) => {
        if (response.statusCode === 200) resolve(new EventReader(asked, response));
        else {
          response.resume();
          reject(Object.assign(new Error(`the stream was refused: ${response.statusCode}`), { response }));
        }
      });
      asked.on('error', reject);
      asked.end();
    });
  }

  of(event: string): SeenEvent[] {
    return this.events.filter((seen) => seen.event === event);
  }

  async until(what: string, test: (event: SeenEvent) => boolean, timeoutMs = 60_000): Promise<SeenEvent> {
    return waitFor(() => this.events.find(test) ?? false, { what, timeoutMs, intervalMs: 5 });
  }

  /** As a consumer that hangs. */
  pause(): void {
    this.#response.pause();
  }

  close(): void {
    this.#request.destroy();
  }

  #read(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
      if (name === '') this.comments += 1;
      else fields.set(name, value);
    }
    const event = fields.get('event');
    if (event === undefined) return;
    this.events.push({
      event,
      id: fields.get('id'),
      data: JSON.parse(fields.get('data') ?? 'null'),
      at: monotonicMs(),
    });
  }
}
