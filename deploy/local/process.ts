import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { onExit } from './reaper.js';

/** The full path of a command, or undefined where it isn't installed. */
export function findCommand(name: string, directories: readonly string[] = []): string | undefined {
  for (const directory of [...directories, ...(process.env['PATH'] ?? '').split(delimiter)]) {
    const path = join(directory, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not there.
    }
  }
  return undefined;
}

/** The last lines of a log, for an error that has to explain itself. */
export function lastLines(file: string, count = 15): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '(no log)';
  }
}

/** A server did not come up, or went down by itself. The message names the log and shows its end. */
export class ServerFailedError extends Error {
  override readonly name = 'ServerFailedError';
  readonly logFile: string;

  constructor(what: string, logFile: string) {
    super(`${what}; the end of ${logFile}:\n${lastLines(logFile)}`);
    this.logFile = logFile;
  }
}

export interface LaunchOptions {
  /** How errors call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Goes before the command, and must end in executing it: `['ip', 'netns', 'exec', 'a']`. */
  readonly prefix?: readonly string[];
  /** Standard output and error are appended here. */
  readonly logFile: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
  /** What it gets when this process ends. Default SIGKILL. */
  readonly deathSignal?: 'SIGKILL' | 'SIGQUIT';
}

/** A server's process. It is killed when this process ends, in whatever way. */
export class ManagedProcess {
  readonly name: string;
  readonly logFile: string;
  readonly pid: number;
  /** Settles once the process is gone, with what ended it: "code 1", "SIGKILL". */
  readonly exited: Promise<string>;
  /** What ended the process; undefined while it lives. */
  exit: string | undefined;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, pid: number, options: LaunchOptions) {
    this.#child = child;
    this.pid = pid;
    this.name = options.name;
    this.logFile = options.logFile;
    const forget = onExit(() => child.kill(options.deathSignal ?? 'SIGKILL'));
    const release = setpriv ? () => {} : watchOver(pid, options.deathSignal ?? 'SIGKILL');
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.exit = signal ?? `code ${code}`;
        forget();
        release();
        resolve(this.exit);
      });
    });
  }

  get running(): boolean {
    return this.exit === undefined;
  }

  /** SIGKILL; resolves once the process is gone. Works on a frozen one too. */
  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.exited;
  }

  /** An orderly end, and SIGKILL for one that isn't over in `graceMs`. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', graceMs = 10_000): Promise<void> {
    this.#signal(signal);
    this.thaw();
    const impatience = setTimeout(() => this.#signal('SIGKILL'), graceMs);
    await this.exited;
    clearTimeout(impatience);
  }

  /** SIGSTOP: it answers nothing, and its connections stay open. */
  freeze(): void {
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.running) this.#child.kill(signal);
  }
}

const setpriv = process.platform === 'linux' ? findCommand('setpriv', ['/usr/bin']) : undefined;

/** Starts a process in a group of its own, so that a Ctrl-C at the terminal reaches us alone and we stop the servers in order. */
export async function launch(options: LaunchOptions): Promise<ManagedProcess> {
  const words = [...(options.prefix ?? []), options.command, ...options.args];
  // The kernel ends the server when we die, be it by SIGKILL. The mark survives the execution of the next command.
  if (setpriv) words.unshift(setpriv, '--pdeathsig', (options.deathSignal ?? 'SIGKILL').slice(3));
  const [command = '', ...args] = words;
  const log = openSync(options.logFile, 'a');
  try {
    const child = spawn(command, args, {
      stdio: ['ignore', log, log],
      detached: true,
      cwd: options.cwd,
      env: options.env ?? process.env,
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(new Error(`can't start ${options.name}: ${error.message}`)));
    });
    return new ManagedProcess(child, child.pid as number, options);
  } finally {
    closeSync(log);
  }
}

/** Where there is no setpriv: a shell waits for the end of a pipe that only we hold open, and ends the server then. */
function watchOver(pid: number, signal: string): () => void {
  const watcher = spawn('/bin/sh', ['-c', 'read -r _ || kill -s "$1" "$0"', String(pid), signal.slice(3)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.once('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  (watcher.stdin as unknown as Socket).unref();
  return () => watcher.stdin.end('over\n');
}
