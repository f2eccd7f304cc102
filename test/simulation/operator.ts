import type { Random } from '../../src/verify/random.js';
import type { Scheduler } from './scheduler.js';
import type { Server } from './server.js';
import type { Outcome, Submission, Write } from './transaction.js';

/** Somebody with a shell at the ensemble: what is done by hand goes through the quorum, as everything does. */
export class Operator {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #servers: readonly Server[];
  readonly #waiting = new Map<object, (outcome: Outcome) => void>();

  constructor(scheduler: Scheduler, random: Random, servers: readonly Server[]) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#servers = servers;
  }

  /** Each resolves once committed, whether or not it was refused. Needn't be awaited. */
  create(path: string, data: Uint8Array): Promise<Outcome> {
    return this.#submit({ type: 'create', path, data, mode: 'persistent' });
  }

  /** With the version that was looked at, nothing is overwritten that came between. */
  write(path: string, data: Uint8Array, version = -1): Promise<Outcome> {
    return this.#submit({ type: 'write', path, data, version });
  }

  remove(path: string): Promise<Outcome> {
    return this.#submit({ type: 'remove', path, version: -1 });
  }

  /** As another holder of its id and password would: its ephemeral nodes go, and its client is told that it has expired. */
  closeSession(session: string): Promise<Outcome> {
    return this.#submit({ type: 'close', session });
  }

  /** To be told of each committed transaction's outcome. */
  committed(submission: Submission, outcome: Outcome): void {
    if (submission.origin === null) return;
    const resolve = this.#waiting.get(submission.origin);
    if (resolve === undefined) return;
    this.#waiting.delete(submission.origin);
    this.#scheduler.after(0, () => {
      this.#scheduler.wake();
      resolve(outcome);
    });
  }

  #submit(write: Write): Promise<Outcome> {
    return new Promise((resolve) => {
      const origin = {};
      this.#waiting.set(origin, resolve);
      this.#attempt({ write, session: null, via: BY_HAND, origin });
    });
  }

  /** Until some leader takes it. One that loses its majority may have taken it in vain: then it is done again. */
  #attempt(submission: Submission): void {
    this.#scheduler.after(this.#random.between(0, 5), () => {
      if (submission.origin !== null && !this.#waiting.has(submission.origin)) return;
      const leader = this.#servers.find((server) => server.serving && server.leadership !== null);
      leader?.role?.submit(submission);
      this.#scheduler.after(leader === undefined ? 50 : 5_000, () => this.#attempt(submission));
    });
  }
}

/** No server's id. */
const BY_HAND = 0;
