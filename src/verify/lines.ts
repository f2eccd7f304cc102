import { type ChildProcess, spawn } from 'node:child_process';
import type { Direction, FaultyLine, Traffic } from './faulty-line.js';
import { programOf } from './program.js';

/** What the process of the lines is asked: to call a method of one of them. */
export interface LineOrder {
  readonly number: number;
  readonly line: number;
  readonly method: 'open' | keyof FaultyLine;
  readonly parameters: readonly unknown[];
}

export interface LineReport {
  readonly number: number;
  readonly value?: unknown;
  readonly failure?: string;
}

/**
 * Faulty lines, in a process of their own: a client that blocks its event loop, as the native one does for a
 * moment when it closes, must not stop the very line that it waits for.
 */
export class Lines implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (report: LineReport) => void>();
  #orders = 0;
  #lines = 0;

  /** @param prefix what its command starts with, and must end in executing the rest */
  constructor(prefix: readonly string[] = []) {
    const program = programOf(new URL('./lines-process.js', import.meta.url));
    const [command = '', ...args] = [...prefix, process.execPath, ...program];
    // A key that is pressed at the terminal means us. It ends when the channel to us does.
    this.#process = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true });
    this.#process.on('message', (report: LineReport) => {
      this.#waiting.get(report.number)?.(report);
      this.#waiting.delete(report.number);
    });
  }

  async to(target: { readonly host: string; readonly clientPort: number }): Promise<Line> {
    const line = this.#lines++;
    const order = <R>(method: LineOrder['method'], ...parameters: unknown[]) =>
      this.#order(line, method, parameters) as Promise<R>;
    const { host, clientPort } = target;
    return new Line(order, await order<string>('open', { host, clientPort }));
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.disconnect();
    await gone;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #order(line: number, method: LineOrder['method'], parameters: readonly unknown[]): Promise<unknown> {
    const number = this.#orders++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, ({ failure, value }) => {
        if (failure === undefined) resolve(value);
        else reject(new Error(failure));
      });
      this.#process.send?.({ number, line, method, parameters } satisfies LineOrder);
    });
  }
}

/** One line; see {@link FaultyLine}. What it is told has happened when the promise resolves. */
export class Line {
  /** `host:port`, for a client. */
  readonly address: string;
  readonly #order: <R>(method: keyof FaultyLine, ...parameters: unknown[]) => Promise<R>;

  constructor(order: <R>(method: keyof FaultyLine, ...parameters: unknown[]) => Promise<R>, address: string) {
    this.#order = order;
    this.address = address;
  }

  /** Cuts the connections; new ones are taken. */
  drop(): Promise<void> {
    return this.#order('drop');
  }

  refuse(): Promise<void> {
    return this.#order('refuse');
  }

  stall(...directions: Direction[]): Promise<void> {
    return this.#order('stall', ...directions);
  }

  answerHandshakesOnly(): Promise<void> {
    return this.#order('answerHandshakesOnly');
  }

  delayReplies(ms: number): Promise<void> {
    return this.#order('delayReplies', ms);
  }

  mend(): Promise<void> {
    return this.#order('mend');
  }

  /** Resolves when the reply has been lost. */
  loseReply(operation: number, mentions: string): Promise<void> {
    return this.#order('loseReply', operation, mentions);
  }

  traffic(): Promise<Traffic> {
    return this.#order('traffic');
  }

  close(): Promise<void> {
    return this.#order('close');
  }
}
