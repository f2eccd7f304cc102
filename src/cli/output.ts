import { type Style, styleFor, wantsColour } from './style.js';

/** Standard output or standard error. */
export class Output {
  readonly style: Style;
  readonly #stream: NodeJS.WriteStream;
  #broken = false;

  /** `onBroken` is told once, when nothing can be written any more; with code EPIPE the reader has seen enough. */
  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv, onBroken: (error: NodeJS.ErrnoException) => void) {
    this.#stream = stream;
    this.style = styleFor(wantsColour(stream.isTTY === true, env));
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#broken) return;
      this.#broken = true;
      onBroken(error);
    });
  }

  /** How wide lines may be: the terminal's width, or 100. */
  get columns(): number {
    return Math.max(40, this.#stream.columns ?? 100);
  }

  write(text: string): void {
    if (!this.#broken) this.#stream.write(text);
  }

  /** Resolves when all that was written is gone, or can't be. */
  async flush(): Promise<void> {
    if (!this.#broken) await new Promise<void>((resolve) => this.#stream.write('', () => resolve()));
    // An error is told behind the callback.
    await new Promise<void>(setImmediate);
  }

  line(text = ''): void {
    this.write(`${text}\n`);
  }

  /** One value on one line; bigint as decimal text. */
  json(value: unknown): void {
    this.line(toJson(value));
  }
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? part.toString() : part));
}
