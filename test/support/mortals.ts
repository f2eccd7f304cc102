import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../../deploy/local/index.js';
import type { ConnectOptions } from '../../src/index.js';
import { LineProcess } from './line-process.js';
import type { Report } from './report.js';

export interface MortalOptions {
  readonly servers: string;
  readonly election: string;
  readonly id: string;
  readonly sessionTimeoutMs: number;
  readonly lifeline: boolean;
  /** Never ends the turn in which its term begins. */
  readonly spins?: boolean;
  /** Of `connect()`, besides these. */
  readonly more?: Pick<ConnectOptions, 'driver' | 'tls' | 'acl' | 'auth'>;
  /** Where `connect` is imported from: by default its source, or else what was compiled from it. */
  readonly module?: string;
}

export type MortalAct = 'throw' | 'abort' | 'exit' | 'spin' | 'fork' | 'inherit' | 'unplug' | 'close';

/** A process that leads one term, and dies as it is told. */
export class Mortal extends LineProcess<Report | { event: 'inherited'; pid: number }> {
  readonly reports: Report[] = [];
  /** Of a child that has inherited its sockets. */
  heir: number | undefined;

  private constructor(child: ChildProcess) {
    super(
      child,
      (said) => {
        if (said.event === 'inherited') this.heir = said.pid;
        else this.reports.push(said);
      },
      'exit',
    );
  }

  /** Resolves when it leads. */
  static async leads(options: MortalOptions): Promise<Mortal> {
    const program = fileURLToPath(new URL('./mortal.ts', import.meta.url));
    const words = ['--import', 'tsx', program, JSON.stringify(options)];
    // What it says of its death is of no interest.
    const mortal = new Mortal(spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] }));
    await waitFor(() => mortal.gone || mortal.reports.some(({ event }) => event === 'began'), {
      what: `${options.id} to lead`,
    });
    if (mortal.gone) throw new Error(`${options.id} ended before it led`);
    return mortal;
  }

  /** It hasn't heard of any end. */
  get believes(): boolean {
    return !this.gone && !this.reports.some(({ event }) => event === 'ended');
  }

  does(act: MortalAct): void {
    this.tell(act);
  }
}
