import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../../deploy/local/index.js';
import type { ActBook } from './acts.js';
import { LineProcess } from './line-process.js';
import type { Report } from './report.js';
import type { WorkerParameters } from './worker.js';

export interface WorkerOptions {
  /** `worker` (the default), or the common recipe to compare with. */
  readonly program?: 'worker' | 'trusting-client';
  /** What its command starts with, and must end in executing the rest. */
  readonly prefix?: readonly string[];
  readonly book: ActBook;
}

/** A worker in a process of its own, to be killed and frozen. */
export class WorkerProcess extends LineProcess<Report> {
  readonly id: string;
  /** What it has begun, ended and said, acts excepted: those are in the book. */
  readonly reports: Report[] = [];
  lastAct: { readonly at: number; readonly token: string } | undefined;

  private constructor(child: ChildProcess, id: string, book: ActBook) {
    super(child, (report) => {
      if (report.event !== 'act') {
        this.reports.push(report);
        return;
      }
      this.lastAct = report;
      book.note(id, report.term, BigInt(report.token), report.at);
    });
    this.id = id;
  }

  static async start(parameters: WorkerParameters, options: WorkerOptions): Promise<WorkerProcess> {
    const { program = 'worker', prefix = [] } = options;
    const file = fileURLToPath(new URL(`./${program}.ts`, import.meta.url));
    const words = [...prefix, process.execPath, '--import', 'tsx', file, JSON.stringify(parameters)];
    const [command = '', ...args] = words;
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const worker = new WorkerProcess(child, parameters.id, options.book);
    await waitFor(() => worker.gone || worker.reports.some(({ event }) => event === 'ready'), {
      what: `${parameters.id} to be ready`,
    });
    if (worker.gone) throw new Error(`${parameters.id} ended at its start`);
    return worker;
  }
}
