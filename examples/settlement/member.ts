import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { onExit } from '../../deploy/local/index.js';
import { findCommand } from '../../deploy/local/process.js';
import type { Command, Report } from './messages.js';

const PROGRAM = fileURLToPath(new URL('./worker.ts', import.meta.url));
const setpriv = process.platform === 'linux' ? findCommand('setpriv', ['/usr/bin']) : undefined;

/** One worker process. It doesn't outlive the demo. */
export class Member {
  readonly name: string;
  readonly logFile: string;
  readonly pid: number;
  /** Settles once the process is gone, with what ended it: "code 0", "SIGKILL". */
  readonly exited: Promise<string>;
  /** What ended the process; undefined while it lives. */
  exit: string | undefined;
  /** Whether its end is our doing. */
  dismissed = false;
  readonly #child: ChildProcess;

  constructor(name: string, logFile: string, onReport: (report: Report) => void) {
    this.name = name;
    this.logFile = logFile;
    const log = openSync(logFile, 'a');
    const command = [process.execPath, ...process.execArgv, PROGRAM];
    // The kernel ends it when we die, even where it is frozen and can't notice.
    if (setpriv !== undefined) command.unshift(setpriv, '--pdeathsig', 'KILL');
    const [program = '', ...args] = command;
    // In a group of its own: Ctrl-C at the terminal reaches the demo alone.
    this.#child = spawn(program, args, { stdio: ['ignore', log, log, 'ipc'], detached: true });
    closeSync(log);
    this.pid = this.#child.pid ?? 0;
    this.#child.on('message', (report) => onReport(report as Report));
    const forget = onExit(() => this.#child.kill('SIGKILL'));
    this.exited = new Promise((resolve) => {
      const ended = (how: string) => {
        this.exit = how;
        forget();
        resolve(how);
      };
      this.#child.once('exit', (code, signal) => ended(signal ?? `code ${code}`));
      this.#child.once('error', (error) => ended(error.message));
    });
  }

  get running(): boolean {
    return this.exit === undefined;
  }

  tell(command: Command): void {
    if (this.#child.connected) this.#child.send(command, () => {});
  }

  /** SIGKILL; resolves once the process is gone. */
  async kill(): Promise<void> {
    this.dismissed = true;
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  /** SIGCONT. */
  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** SIGTERM: it gives its leadership up and leaves the queue. @returns what ended it */
  async stop(graceMs = 10_000): Promise<string> {
    this.dismissed = true;
    this.#child.kill('SIGTERM');
    const impatience = setTimeout(() => this.#child.kill('SIGKILL'), graceMs);
    const how = await this.exited;
    clearTimeout(impatience);
    return how;
  }
}
