import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { monotonicMs } from './monotonic.js';
import type { Told } from './told.js';
import type { WorkerParameters } from './workload.js';

/** Reads until whoever holds the other end is gone, then kills. */
const GUARD = 'read -r _; kill -KILL "$0"';

export interface WorkerCommand {
  /** The command and its arguments. */
  readonly words: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** One worker process. It doesn't outlive us, however we end, and be it frozen. */
export class WorkerProcess {
  /** `w1.2`: the second life of the first worker. */
  readonly who: string;
  readonly pid: number;
  readonly exited: Promise<void>;
  ready = false;
  gone = false;
  frozen = false;
  readonly #child: ChildProcess;

  constructor(command: WorkerCommand, parameters: WorkerParameters, listener: (told: Told, who: string) => void) {
    this.who = parameters.who;
    const [name = '', ...args] = command.words;
    this.#child = spawn(name, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...command.env },
      // A key that is pressed at the terminal means us.
      detached: true,
    });
    const { stdin, stdout, pid } = this.#child;
    if (stdin === null || stdout === null || pid === undefined)
      throw new Error(`a worker could not be started: ${name}`);
    this.pid = pid;
    stdin.on('error', () => {});
    stdin.write(`${JSON.stringify(parameters)}\n`);
    const guard = spawn('sh', ['-c', GUARD, String(pid)], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    this.exited = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.gone = true;
        guard.kill('SIGKILL');
        resolve();
      });
    });
    createInterface({ input: stdout }).on('line', (line) => {
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
