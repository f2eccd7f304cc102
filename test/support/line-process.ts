import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onExit } from '../../deploy/local/index.js';

/** A child process that says what happens, a line of JSON each, and doesn't outlive this one. Its standard output is a pipe. */
export class LineProcess<Line> {
  readonly pid: number;
  /** Resolves once it is gone and all that it said has been read. */
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #gone = false;

  /** @param end `exit` where others may hold its standard output open, and what it says last is of no interest */
  constructor(child: ChildProcess, heard: (line: Line) => void, end: 'close' | 'exit' = 'close') {
    if (child.stdout === null) throw new Error('it says what happens on its standard output');
    this.#child = child;
    this.pid = child.pid as number;
    const forget = onExit(() => child.kill('SIGKILL'));
    child.stdin?.on('error', () => {});
    this.exited = new Promise((resolve) => {
      child.once(end, () => {
        this.#gone = true;
        forget();
        resolve();
      });
    });
    createInterface({ input: child.stdout }).on('line', (line) => heard(JSON.parse(line) as Line));
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Writes a line to its standard input. */
  tell(word: string): void {
    this.#child.stdin?.write(`${word}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.signal(signal);
    await this.exited;
  }

  /** Ends its standard input, as an order to end; SIGKILL when that takes too long. */
  async end(patienceMs = 10_000): Promise<void> {
    this.#child.stdin?.end();
    const impatience = setTimeout(() => this.signal('SIGKILL'), patienceMs);
    await this.exited;
    clearTimeout(impatience);
  }
}
