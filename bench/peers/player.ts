import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { onExit, waitFor } from '../../deploy/local/index.js';
import { monotonicMs } from '../../test/support/monotonic.js';

/** A line that a program has said; README.md has them all. `at` is in milliseconds of CLOCK_MONOTONIC. */
export interface Said {
  readonly event: 'ready' | 'led' | 'lost' | 'failed' | 'raw' | 'count';
  readonly at: number;
  readonly why?: string;
  readonly error?: string;
  /** Of Tenure's: when `assert()` last passed. */
  readonly held?: number;
  readonly [key: string]: unknown;
}

/** A program of one library: one candidate, or a crowd. It doesn't outlive this process. */
export class Player {
  readonly said: Said[] = [];
  readonly exited: Promise<void>;
  readonly pid: number;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #gone = false;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
    this.pid = child.pid as number;
    const forget = onExit(() => child.kill('SIGKILL'));
    child.stdin.on('error', () => {});
    this.exited = new Promise((resolve) => {
      child.once('close', () => {
        this.#gone = true;
        forget();
        resolve();
      });
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.said.push(JSON.parse(line) as Said));
  }

  /** Resolves once it is connected. */
  static async start(words: readonly string[], prefix: readonly string[] = []): Promise<Player> {
    const [command = '', ...args] = [...prefix, ...words];
    const player = new Player(spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
    await player.hears(({ event }) => event === 'ready', {
      what: `${words.join(' ')} to be ready`,
      timeoutMs: 120_000,
    });
    return player;
  }

  /** It leads as far as it knows. */
  get leads(): boolean {
    return this.said.findLast(({ event }) => event === 'led' || event === 'lost')?.event === 'led';
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** The first line of this kind, from the given place on. */
  async hears(
    wanted: (said: Said) => boolean,
    { what, timeoutMs = 60_000, from = 0 }: { what: string; timeoutMs?: number; from?: number },
  ): Promise<Said> {
    return waitFor(
      () => {
        const found = this.said.slice(from).find(wanted);
        if (found === undefined && this.#gone) throw new Error(`it ended instead of ${what}: ${this.#complaint()}`);
        return found;
      },
      { what: `${what}${this.#complaint()}`, timeoutMs, intervalMs: 5 },
    );
  }

  join(): void {
    this.#child.stdin.write('join\n');
  }

  /** Gives up the leadership. */
  leave(): void {
    this.#child.stdin.write('leave\n');
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  /** @returns when, right before */
  thaw(): number {
    const at = monotonicMs();
    this.#child.kill('SIGCONT');
    return at;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  /** An orderly end; SIGKILL for one that takes too long. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    const impatience = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await this.exited;
    clearTimeout(impatience);
  }

  #complaint(): string {
    return this.said.flatMap(({ error }) => (error === undefined ? [] : [` (${error})`])).join('');
  }
}
