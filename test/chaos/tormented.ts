import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onExit } from '../../deploy/local/index.js';
import { monotonicMs } from '../support/monotonic.js';
import type { Told } from './told.js';
import type { WorkerParameters } from './worker.js';

/** One worker process. It doesn't outlive us. */
export class Tormented {
  /** `w1.2`: the second life of the first worker. */
  readonly who: string;
  readonly pid: number;
  readonly exited: Promise<void>;
  ready = false;
  gone = false;
  frozen = false;
  readonly #child: ChildProcess;

  constructor(
    parameters: WorkerParameters,
    prefix: readonly string[],
    env: NodeJS.ProcessEnv,
    listener: (told: Told, who: string) => void,
  ) {
    this.who = parameters.who;
    const file = fileURLToPath(new URL('./worker.ts', import.meta.url));
    const words = [...prefix, process.execPath, '--import', 'tsx', file, JSON.stringify(parameters)];
    const [command = '', ...args] = words;
    this.#child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
    this.pid = this.#child.pid as number;
    const forget = onExit(() => this.#child.kill('SIGKILL'));
    this.exited = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.gone = true;
        forget();
        resolve();
      });
    });
    if (this.#child.stdout === null) throw new Error('a worker tells of itself through its standard output');
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      // A killed process leaves half a line.
      const told = parse(line);
      if (told === null) return;
      if (told.type === 'ready') this.ready = true;
      listener(told, this.who);
    });
  }

  signal(signal: NodeJS.Signals): number {
    if (!this.gone) this.#child.kill(signal);
    if (signal === 'SIGSTOP') this.frozen = true;
    if (signal === 'SIGCONT') this.frozen = false;
    return monotonicMs();
  }
}

function parse(line: string): Told | null {
  try {
    return JSON.parse(line) as Told;
  } catch {
    return null;
  }
}
