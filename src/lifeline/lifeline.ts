import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { SessionLifeline } from '../election/port.js';
import { type Backoff, backoffMs } from '../lease/backoff.js';
import type { Instant } from '../lease/clock.js';
import { Estate } from './estate.js';
import { encodeMessage, type Message, type SessionCredentials } from './messages.js';
import { identify } from './parent.js';
import { programAt } from './program.js';

const RESTART: Backoff = { baseMs: 200, capMs: 30_000 };

/** A helper that has lived so long was well. */
const WELL_MS = 60_000;

/** How long a helper without anything to do is kept for the next connection. */
const LINGER_MS = 5_000;

/** All that a helper gets of our environment: enough to run and to resolve names, and nobody's secrets or NODE_OPTIONS. */
const ENVIRONMENT = ['PATH', 'LD_LIBRARY_PATH', 'LOCALDOMAIN', 'RES_OPTIONS', 'HOSTALIASES', 'TMPDIR'];

/**
 * The worker's end of the pipe to its helper, which ends what this process leaves behind when it dies. One for each process,
 * whatever number of connections it has.
 *
 * The helper has its own session and process group, and is started before the driver connects, so that it inherits
 * no connection. What it needs goes through the pipe alone: no password is ever in an argument, a file or the environment.
 */
export class Lifeline {
  static #shared: Lifeline | null = null;
  readonly #estate = new Estate();
  readonly #warn = new Set<(message: string) => void>();
  #helper: ChildProcess | null = null;
  #users = 0;
  #failures = 0;
  #linger: NodeJS.Timeout | undefined;
  #untold = '';
  #telling: NodeJS.Immediate | undefined;
  #toldFirst = false;

  /**
   * This process's lifeline; its helper is started with the first use. Give it back with {@link release}.
   *
   * @param warn told when there is no helper although there should be
   * @returns null where a helper can't be started
   */
  static acquire(warn: (message: string) => void): Lifeline | null {
    const lifeline = Lifeline.#shared ?? new Lifeline();
    if (lifeline.#helper === null && !lifeline.#start(warn)) return null;
    Lifeline.#shared = lifeline;
    clearTimeout(lifeline.#linger);
    lifeline.#users += 1;
    lifeline.#warn.add(warn);
    return lifeline;
  }

  release(warn: (message: string) => void): void {
    this.#warn.delete(warn);
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#linger = setTimeout(() => {
      Lifeline.#shared = null;
      this.#helper?.stdin?.end();
    }, LINGER_MS);
    this.#linger.unref();
  }

  /** The helper's pid, for tests and measurements; undefined while there is none. */
  get pid(): number | undefined {
    return this.#helper?.pid;
  }

  session(session: SessionCredentials): SessionLifeline {
    const { id } = session;
    this.#tell({ tell: 'session', session });
    return {
      node: (path) => this.#tell({ tell: 'node', id, path }),
      leads: (path) => this.#tellFirst({ tell: 'leads', id, path }),
      left: (path) => this.#tellSoon({ tell: 'left', id, path }),
      over: () => this.#tell({ tell: 'over', id }),
    };
  }

  /** No process of the child may run past this moment. */
  lease(end: Instant): void {
    this.#tell({ tell: 'lease', end });
  }

  /** Before a child is started with this setting, `NAME=value`, in its environment: from now on none is left behind. */
  childStarting(mark: string): void {
    this.#tell({ tell: 'starting', mark });
  }

  /** The child leads a process group of its own. */
  childRuns(group: number): void {
    this.#tell({ tell: 'running', group, startTime: identify(group).startTime });
  }

  childEnded(): void {
    this.#tell({ tell: 'ended' });
  }

  #tell(message: Message): void {
    this.#tellSoon(message);
    this.#write();
  }

  /** At once the first time in a turn: a worker begins in the very turn of its term, may never end it, and be killed in it. */
  #tellFirst(message: Message): void {
    this.#tellSoon(message);
    if (this.#toldFirst) return;
    this.#toldFirst = true;
    this.#write();
  }

  /** Before the event loop turns: thousands of terms may begin or end in one turn, and each write is a call of the system. */
  #tellSoon(message: Message): void {
    this.#estate.told(message);
    this.#untold += encodeMessage(message);
    this.#telling ??= setImmediate(() => {
      this.#telling = undefined;
      this.#toldFirst = false;
      this.#write();
    });
  }

  #write(): void {
    const text = this.#untold;
    this.#untold = '';
    if (text !== '') this.#helper?.stdin?.write(text);
  }

  #start(warn: (message: string) => void): boolean {
    const program = programAt(new URL('./helper.js', import.meta.url));
    if (process.platform === 'win32' || program === null) {
      if (program === null) warn(NOT_FOUND);
      return false;
    }
    const me = identify(process.pid);
    const startedAt = performance.now();
    const args = [...program, String(me.pid), ...(me.startTime === null ? [] : [me.startTime])];
    const env = Object.fromEntries(ENVIRONMENT.map((name) => [name, process.env[name]]));
    const helper = spawn(process.execPath, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
      env,
    });
    // None of it keeps this process alive.
    helper.unref();
    (helper.stdin as unknown as Socket).unref();
    helper.stdin.on('error', () => {});
    helper.on('error', () => {});
    helper.on('close', () => this.#gone(helper, performance.now() - startedAt));
    this.#helper = helper;
    this.#untold = '';
    for (const message of this.#estate.retold()) helper.stdin.write(encodeMessage(message));
    return true;
  }

  /** Somebody killed it, or it couldn't be started. */
  #gone(helper: ChildProcess, livedMs: number): void {
    if (this.#helper !== helper) return;
    this.#helper = null;
    if (Lifeline.#shared !== this) return;
    this.#failures = livedMs > WELL_MS ? 0 : this.#failures + 1;
    for (const warn of this.#warn) warn(GONE);
    const again = setTimeout(
      () => {
        if (Lifeline.#shared === this && this.#helper === null) this.#start(() => {});
      },
      backoffMs(RESTART, this.#failures, Math.random),
    );
    again.unref();
  }
}

const NOT_FOUND =
  "the lifeline's helper can't be found beside Tenure's own files, so a killed process keeps its leaderships until its session " +
  'expires: where the program is bundled into one file, leave "tenure" out of the bundle';

const GONE =
  "the lifeline's helper process has ended: until another one runs, a killed process keeps its leaderships until its session expires";
