import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onExit, waitFor } from '../../deploy/local/index.js';
import type { ConnectOptions } from '../../src/index.js';
import type { Report } from './report.js';

export interface MortalOptions {
  readonly servers: string;
  readonly election: string;
  readonly id: string;
  readonly sessionTimeoutMs: number;
  readonly lifeline: boolean;
  /** Of `connect()`, besides these. */
  readonly more?: Pick<ConnectOptions, 'driver' | 'tls' | 'acl' | 'auth'>;
  /** Where `connect` is imported from: by default its source, or else what was compiled from it. */
  readonly module?: string;
}

export type MortalAct = 'throw' | 'abort' | 'exit' | 'spin' | 'fork' | 'inherit' | 'unplug' | 'close';

/** A process that leads one term, and dies as it is told. It doesn't outlive this one. */
export class Mortal {
  readonly pid: number;
  readonly exited: Promise<void>;
  readonly reports: Report[] = [];
  /** Of a child that has inherited its sockets. */
  heir: number | undefined;
  readonly #child: ChildProcess;
  #gone = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid as number;
    const forget = onExit(() => child.kill('SIGKILL'));
    this.exited = new Promise((resolve) => {
      child.once('exit', () => {
        this.#gone = true;
        forget();
        resolve();
      });
    });
    child.stdin?.on('error', () => {});
    if (child.stdout === null) throw new Error('it reports through its standard output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Report | { event: 'inherited'; pid: number };
      if (said.event === 'inherited') this.heir = said.pid;
      else this.reports.push(said);
    });
  }

  /** Resolves when it leads. */
  static async leads(options: MortalOptions): Promise<Mortal> {
    const program = fileURLToPath(new URL('./mortal.ts', import.meta.url));
    const words = ['--import', 'tsx', program, JSON.stringify(options)];
    // What it says of its death is of no interest.
    const mortal = new Mortal(spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] }));
    await waitFor(() => mortal.#gone || mortal.reports.some(({ event }) => event === 'began'), {
      what: `${options.id} to lead`,
    });
    if (mortal.#gone) throw new Error(`${options.id} ended before it led`);
    return mortal;
  }

  /** It hasn't heard of any end. */
  get believes(): boolean {
    return !this.#gone && !this.reports.some(({ event }) => event === 'ended');
  }

  does(act: MortalAct): void {
    this.#child.stdin?.write(`${act}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }
}
