import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { waitFor } from '../../deploy/local/index.js';
import { monotonicMs } from '../../src/verify/monotonic.js';
import { LineProcess } from '../support/line-process.js';
import type { Leadership, LeadershipBook } from './leaderships.js';
import type { Programs, Recipe } from './programs.js';

/** Which queue, and in which ensemble. */
export interface Place {
  readonly servers: string;
  readonly path: string;
  readonly sessionTimeoutMs: number;
  readonly programs: Programs;
  readonly book: LeadershipBook;
}

/** A line of the protocol in README.md. */
type Line =
  | { readonly event: 'ready' }
  | { readonly event: 'led'; readonly at: number; readonly token: string | null }
  | { readonly event: 'lost'; readonly at: number; readonly why: string }
  | { readonly event: 'failed'; readonly error: string };

/** A candidate in a process of its own, by whichever library. */
export class Candidate extends LineProcess<Line> {
  readonly id: string;
  readonly recipe: Recipe;
  /** What it could not do, in its own words. */
  readonly failures: string[] = [];
  readonly #book: LeadershipBook;
  #ready = false;
  #leadership: Leadership | null = null;
  /** The leadership in which it ended. */
  #killedIn: Leadership | null = null;

  private constructor(child: ChildProcess, id: string, recipe: Recipe, book: LeadershipBook) {
    super(child, (line) => this.#heard(line));
    this.id = id;
    this.recipe = recipe;
    this.#book = book;
    child.once('close', () => {
      this.#killedIn = this.#leadership;
      this.#over(monotonicMs(), 'killed');
    });
  }

  static async start(recipe: Recipe, id: string, place: Place): Promise<Candidate> {
    const parameters = [place.servers, place.path, id, String(place.sessionTimeoutMs)];
    const [command = '', ...args] = place.programs.command(recipe, parameters);
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const candidate = new Candidate(child, id, recipe, place.book);
    await waitFor(() => candidate.#ready || candidate.gone, { what: `${id} to be ready`, timeoutMs: 60_000 });
    if (!candidate.#ready) throw new Error(`${id} ended at its start`);
    return candidate;
  }

  /** Leads as far as it knows. */
  get leads(): boolean {
    return this.#leadership !== null;
  }

  join(): void {
    this.tell('join');
  }

  /** Gives up the leadership, or its place in the queue. */
  leave(): void {
    this.tell('leave');
  }

  /**
   * SIGKILL; resolves once it is gone and all that it said has been read. It is stopped right before: when a process has
   * died is seen only afterwards, and by then a lifeline may have let the next one lead.
   */
  override async kill(): Promise<void> {
    this.freeze();
    await waitFor(() => this.gone || stopped(this.pid), { what: `${this.id} to stop`, intervalMs: 1 });
    const at = monotonicMs();
    await super.kill();
    if (this.#killedIn !== null) this.#killedIn.to = at;
  }

  #heard(line: Line): void {
    switch (line.event) {
      case 'ready':
        this.#ready = true;
        break;
      case 'led': {
        const token = BigInt(line.token || -1);
        this.#leadership = this.#book.begin({ who: this.id, recipe: this.recipe, token, from: line.at });
        break;
      }
      case 'lost':
        this.#over(line.at, line.why);
        break;
      case 'failed':
        this.failures.push(line.error);
        break;
    }
  }

  #over(at: number, why: string): void {
    if (this.#leadership === null) return;
    this.#leadership.to = at;
    this.#leadership.why = why;
    this.#leadership = null;
  }
}

/** Whether no thread of a process runs any more, by SIGSTOP. */
function stopped(pid: number | undefined): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
      return stat.charAt(stat.lastIndexOf(')') + 2) === 'T';
    });
  } catch {
    return false; // A thread ended meanwhile: look again.
  }
}
