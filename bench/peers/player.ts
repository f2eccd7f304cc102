import { type ChildProcess, spawn } from 'node:child_process';
import { waitFor } from '../../deploy/local/index.js';
import { LineProcess } from '../../test/support/line-process.js';

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

/** A program of one library: one candidate, or a crowd. */
export class Player extends LineProcess<Said> {
  readonly said: Said[] = [];

  private constructor(child: ChildProcess) {
    super(child, (said) => this.said.push(said));
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

  /** The first line of this kind, from the given place on. */
  async hears(
    wanted: (said: Said) => boolean,
    { what, timeoutMs = 60_000, from = 0 }: { what: string; timeoutMs?: number; from?: number },
  ): Promise<Said> {
    return waitFor(
      () => {
        const found = this.said.slice(from).find(wanted);
        if (found === undefined && this.gone) throw new Error(`it ended instead of ${what}: ${this.#complaint()}`);
        return found;
      },
      { what: `${what}${this.#complaint()}`, timeoutMs, intervalMs: 5 },
    );
  }

  join(): void {
    this.tell('join');
  }

  /** Gives up the leadership. */
  leave(): void {
    this.tell('leave');
  }

  #complaint(): string {
    return this.said.flatMap(({ error }) => (error === undefined ? [] : [` (${error})`])).join('');
  }
}
