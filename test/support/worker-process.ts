import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onExit, waitFor } from '../../deploy/local/index.js';
import type { ActBook } from './acts.js';
import type { Report } from './report.js';
import type { WorkerParameters } from './worker.js';

export interface WorkerOptions {
  /** `worker` (the default), or the common recipe to compare with. */
  readonly program?: 'worker' | 'trusting-client';
  /** What its command starts with, and must end in executing the rest. */
  readonly prefix?: readonly string[];
  readonly book: ActBook;
}

/** A worker in a process of its own, to be killed and frozen. It doesn't outlive this one. */
export class WorkerProcess {
  readonly id: string;
  readonly pid: number;
  /** What it has begun, ended and said, acts excepted: those are in the book. */
  readonly reports: Report[] = [];
  lastAct: { readonly at: number; readonly token: string } | undefined;
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #gone = false;

  private constructor(child: ChildProcess, id: string, book: ActBook) {
    this.id = id;
    this.#child = child;
    this.pid = child.pid as number;
    const forget = onExit(() => child.kill('SIGKILL'));
    this.exited = new Promise((resolve) => {
      child.once('close', () => {
        this.#gone = true;
        forget();
        resolve();
      });
    });
    if (child.stdout === null) throw new Error('a worker reports through its standard output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report = JSON.parse(line) as Report;
      if (report.event !== 'act') {
        this.reports.push(report);
        return;
      }
      this.lastAct = report;
      book.note(id, report.term, BigInt(report.token), report.at);
    });
  }

  static async start(parameters: WorkerParameters, options: WorkerOptions): Promise<WorkerProcess> {
    const { program = 'worker', prefix = [] } = options;
    const file = fileURLToPath(new URL(`./${program}.ts`, import.meta.url));
    const words = [...prefix, process.execPath, '--import', 'tsx', file, JSON.stringify(parameters)];
    const [command = '', ...args] = words;
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const worker = new WorkerProcess(child, parameters.id, options.book);
    await waitFor(() => worker.#gone || worker.reports.some(({ event }) => event === 'ready'), {
      what: `${parameters.id} to be ready`,
    });
    if (worker.#gone) throw new Error(`${parameters.id} ended at its start`);
    return worker;
  }

  /** Resolves once it is gone and all it said has been read. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#child.kill(signal);
    await this.exited;
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }
}
