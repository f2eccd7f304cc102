import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { compileSource } from '../../bench/compiled.js';
import { onExit, waitFor } from '../../deploy/local/index.js';
import { processStat } from '../../src/lifeline/processes.js';

export interface CommandRunOptions {
  /** Null: among the options. */
  readonly servers: string | null;
  readonly election: string;
  readonly sessionTimeoutMs?: number;
  /** Options of `tenure run` besides these. */
  readonly options?: readonly string[];
  readonly command: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Written to standard input, which is closed then. */
  readonly input?: Buffer;
}

/** `tenure run` as users have it: compiled, in a process of its own. It doesn't outlive this one. */
export class CommandRun {
  readonly pid: number;
  /** Resolves with the exit code; 128 and the number of the signal that ended it. */
  readonly exited: Promise<number>;
  readonly #child: ChildProcess;
  readonly #out: Buffer[] = [];
  readonly #err: Buffer[] = [];
  code: number | undefined;

  constructor(options: CommandRunOptions) {
    const { servers, election, sessionTimeoutMs = 4_000, command, env = {}, input } = options;
    const main = join(compileSource(), 'cli/main.js');
    const own = ['--election', election, '--session-timeout', `${sessionTimeoutMs}ms`];
    if (servers !== null) own.push('--servers', servers);
    const words = [main, 'run', ...own, ...(options.options ?? []), '--', ...command];
    const child = spawn(process.execPath, words, { stdio: 'pipe', env: { ...process.env, ...env } });
    this.#child = child;
    this.pid = child.pid as number;
    child.stdout.on('data', (chunk: Buffer) => this.#out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => this.#err.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const forget = onExit(() => child.kill('SIGKILL'));
    this.exited = new Promise((resolve) => {
      child.once('exit', (code) => {
        forget();
        this.code = code ?? 137;
        resolve(this.code);
      });
    });
  }

  get output(): Buffer {
    return Buffer.concat(this.#out);
  }

  get text(): string {
    return this.output.toString();
  }

  get errors(): string {
    return Buffer.concat(this.#err).toString();
  }

  /** Waits until the command has printed this. */
  async says(what: string, timeoutMs = 60_000): Promise<void> {
    await waitFor(() => this.text.includes(what), {
      what: `${JSON.stringify(what)} (it said ${JSON.stringify(this.text)}, and ${JSON.stringify(this.errors)})`,
      timeoutMs,
      intervalMs: 5,
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }
}

/** Whether a process runs; a zombie doesn't. */
export function runs(pid: number): boolean {
  const stat = processStat(pid);
  return stat !== null && stat.state !== 'Z' && stat.state !== 'X';
}
