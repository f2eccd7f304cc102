import type { ServerResponse } from 'node:http';

interface Waiting {
  readonly id: string | undefined;
  readonly data: string;
}

/** What is told with a heartbeat. */
export interface Beat {
  readonly event: string;
  readonly data: string;
  readonly id: string;
}

/**
 * Server-sent events to one consumer. Of each kind of event only the newest waits while the consumer is slow; one
 * whose buffer stays full is dropped, for it reads nothing any more.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  readonly #waiting = new Map<string, Waiting>();
  #fullSince: number | null = null;
  #done = false;

  constructor(response: ServerResponse, stallMs: number, onClose: () => void) {
    this.#response = response;
    this.#stallMs = stallMs;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies that gather what they pass on would hold the news back.
      'x-accel-buffering': 'no',
    });
    response.on('drain', () => this.#drained());
    response.on('error', () => {});
    const { socket } = response.req;
    let open = true;
    const closed = () => {
      if (!open) return;
      open = false;
      socket.off('close', closed);
      this.#done = true;
      this.#waiting.clear();
      onClose();
    };
    response.once('close', closed);
    // An answer that stands behind another one on its connection isn't told when that is closed.
    socket.once('close', closed);
    if (socket.destroyed) process.nextTick(closed);
    this.#write('retry: 1000\n\n');
  }

  /** Whether what is sent now goes out at once. */
  get ready(): boolean {
    return !this.#done && this.#fullSince === null;
  }

  /** `data` is one line: JSON is. */
  send(event: string, data: string, id?: string): void {
    if (this.#done) return;
    if (this.#fullSince !== null) this.#waiting.set(event, { id, data });
    else this.#write(framed(event, { id, data }));
  }

  /** Once a second: a sign of life for those who listen, with what is to be told anyway, and a look at those who don't. */
  beat(news?: Beat): void {
    if (this.#done) return;
    if (this.#fullSince === null) this.#write(`${news === undefined ? '' : framed(news.event, news)}: beat\n\n`);
    else if (performance.now() - this.#fullSince > this.#stallMs) this.#response.destroy();
    else if (news !== undefined) this.#waiting.set(news.event, news);
  }

  end(): void {
    if (this.#done) return;
    this.#done = true;
    this.#response.end();
    // Nobody who doesn't read is waited for.
    setTimeout(() => this.#response.destroy(), 1_000).unref();
  }

  #drained(): void {
    this.#fullSince = null;
    for (const [event, waiting] of this.#waiting) {
      if (this.#fullSince !== null) return;
      this.#waiting.delete(event);
      this.#write(framed(event, waiting));
    }
  }

  #write(text: string): void {
    if (!this.#response.write(text)) this.#fullSince ??= performance.now();
  }
}

function framed(event: string, { id, data }: Waiting): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}
