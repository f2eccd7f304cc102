type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

const REFRESH_MS = 200;

/** Tells the story, a line at a time; on a terminal the last line shows how things stand. */
export class Narrator {
  readonly #out: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  readonly #live: boolean;
  readonly #colours: boolean;
  #status: (() => string) | undefined;
  #shown = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.#live = out.isTTY === true && process.env['TERM'] !== 'dumb';
    this.#colours = this.#live && !process.env['NO_COLOR'];
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Something new begins. */
  act(title: string): void {
    this.print('');
    this.print(this.paint('bold', title));
  }

  /** Something happened, now. */
  say(text: string, style?: Style): void {
    const time = `${(this.elapsedMs / 1_000).toFixed(1).padStart(6)} s`;
    this.print(`${this.paint('dim', time)}  ${style === undefined ? text : this.paint(style, text)}`);
  }

  print(text: string): void {
    this.#clear();
    this.#out.write(`${text}\n`);
  }

  paint(style: Style, text: string): string {
    const [on, off] = CODES[style];
    return this.#colours && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  }

  /** What the last line shows, on a terminal, until `close()`. */
  status(status: () => string): void {
    this.#status = status;
    if (this.#live) this.#timer ??= setInterval(() => this.#show(), REFRESH_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#clear();
  }

  #show(): void {
    if (this.#status === undefined) return;
    const text = `          ${this.#status()}`.slice(0, (this.#out.columns ?? 80) - 1);
    if (text === this.#shown) return;
    this.#out.write(`\r\u001b[2K${this.paint('dim', text)}`);
    this.#shown = text;
  }

  #clear(): void {
    if (this.#shown !== '') this.#out.write('\r\u001b[2K');
    this.#shown = '';
  }
}
