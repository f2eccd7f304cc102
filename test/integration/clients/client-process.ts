import { spawn } from 'node:child_process';
import { waitFor } from '../../../deploy/local/index.js';
import { LineProcess } from '../../support/line-process.js';
import type { Command } from './languages.js';

/** What a worker says; `at` by the clock that all processes of this machine share. */
export interface Said {
  readonly event:
    | 'ready'
    | 'viewed'
    | 'term'
    | 'act'
    | 'suspect'
    | 'cancelled'
    | 'over'
    | 'stopped'
    | 'left'
    | 'failed';
  readonly at: number;
  readonly token?: string;
  readonly term?: number;
  readonly previous?: { term: number; token: unknown; leaderId: string; end: string } | null;
  readonly remainingMs?: number;
  readonly reason?: string;
  readonly how?: string;
  readonly code?: string;
}

export interface WorkerOptions {
  readonly url: string;
  readonly election: string;
  readonly id: string;
  readonly bearer?: string;
  /** How long its work takes to stop once its term is over. */
  readonly drainMs?: number;
  /** Whether it looks at the election first, and ends when that is refused. */
  readonly views?: boolean;
}

/** A worker that speaks to a sidecar through its language's client. */
export class ClientProcess extends LineProcess<Said> implements AsyncDisposable {
  readonly said: Said[] = [];
  #log = '';

  constructor({ file, args, cwd, env }: Command, options: WorkerOptions) {
    const child = spawn(file, [...args, JSON.stringify(options)], {
      cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    super(child, (said) => this.said.push(said));
    child.stderr.on('data', (text) => {
      this.#log += text;
    });
  }

  /** What it wrote to standard error. */
  get log(): string {
    return this.#log;
  }

  of(event: Said['event']): Said[] {
    return this.said.filter((one) => one.event === event);
  }

  /** The first that is like this among what it has said since; waits for it. */
  until(event: Said['event'], like: (said: Said) => boolean = () => true, timeoutMs = 60_000): Promise<Said> {
    const found = () => this.said.find((one) => one.event === event && like(one));
    return waitFor(
      () => {
        const said = found();
        if (said === undefined && this.gone) throw new Error(`it has ended without "${event}": ${this.#log}`);
        return said;
      },
      { what: `a worker to say "${event}"`, timeoutMs, intervalMs: 5 },
    ).catch((error: Error) => {
      const last = this.said.slice(-5).map((one) => JSON.stringify(one));
      throw new Error(`${error.message}; the last it said: ${last.join(' ')} ${this.#log}`);
    });
  }

  /** A term other than that one, in which it has acted. */
  async leads(not?: string): Promise<Said> {
    const term = await this.until('term', ({ token }) => token !== not);
    await this.until('act', ({ token }) => token === term.token);
    return term;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
