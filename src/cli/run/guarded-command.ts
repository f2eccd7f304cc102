import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../election/host.js';
import type { Term } from '../../election/term.js';
import type { LeadershipLostError } from '../../errors.js';
import { type Cancel, elapsed, type Instant } from '../../lease/clock.js';
import type { Lifeline } from '../../lifeline/lifeline.js';
import { groupLives, signalGroup } from '../../lifeline/processes.js';
import { after, sharedInstant, until } from '../../lifeline/shared-clock.js';
import { anyOf } from '../../signals.js';
import { due, type Limits } from './due.js';
import { spawnFailure } from './executable.js';
import type { Signals } from './signals.js';

export interface Surroundings {
  readonly lifeline: Lifeline;
  readonly signals: Signals;
  readonly limits: Limits;
  readonly logger: Logger;
  /** Calls back after each confirmed renewal. */
  onRenewal(listener: () => void): Cancel;
  onStart(pid: number): void;
}

export interface Ended {
  /** The command's own exit code; 128 and the signal's number where one ended it. */
  readonly code: number;
  /** It was told to end because the leadership was lost or had to be given up. */
  readonly told: boolean;
}

/** From one look to the next, while what was killed still runs. */
const KILL_AGAIN_MS = 10;

/**
 * One run of the command, under one term. It is started only while the lease holds; it and all of its process group are
 * gone before this is over, and before anybody else may lead: ended by us, or by the lifeline where we can't.
 */
export class GuardedCommand {
  readonly #term: Term;
  readonly #path: string;
  readonly #words: readonly string[];
  readonly #around: Surroundings;
  readonly #cancels: Cancel[] = [];
  /** By clocks that the lifeline shares. What it last was stays when the term is lost: a lost lease is not over yet. */
  #leaseEnd: Instant = sharedInstant();
  #group = 0;
  #toldAt: Instant | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** `path`: the executable; `words`: the command as it was given. */
  constructor(term: Term, path: string, words: readonly string[], around: Surroundings) {
    this.#term = term;
    this.#path = path;
    this.#words = words;
    this.#around = around;
  }

  /**
   * Starts it and resolves when all of it is gone.
   *
   * @returns null where the term was over before it could be started, or somebody has asked us to stop
   * @throws {CommandFailure} where it can't be
   */
  async run(env: NodeJS.ProcessEnv): Promise<Ended | null> {
    const { lifeline, logger } = this.#around;
    try {
      await this.#leaseLong();
      const exit = this.#start(env);
      if (exit === null) return null;
      const code = await exit;
      // What it has left behind works for a term that is going to be announced as over.
      if (await this.#rest()) logger.warn({}, 'the command left processes behind: they were killed');
      return { code, told: this.#toldAt !== null };
    } finally {
      clearTimeout(this.#timer);
      for (const cancel of this.#cancels) cancel();
      lifeline.childEnded();
    }
  }

  /** Resolves when there is more left of the lease than the command would need to end by itself; or it isn't to be started. */
  async #leaseLong(): Promise<void> {
    const { limits, signals, onRenewal } = this.#around;
    const signal = anyOf([this.#term.signal, signals.stop]);
    while (!signal.aborted && !(this.#term.state === 'leading' && this.#term.remainingMs() > limits.graceMs)) {
      await new Promise<void>((resolve) => {
        const stop = onRenewal(() => queueMicrotask(done));
        const done = () => {
          stop();
          signal.removeEventListener('abort', done);
          resolve();
        };
        signal.addEventListener('abort', done, { once: true });
      });
    }
  }

  /** From the last look at the lease to the child's start nothing else runs: no loss and no signal can fall between. */
  #start(env: NodeJS.ProcessEnv): Promise<number> | null {
    const { lifeline, signals, onRenewal } = this.#around;
    const run = randomUUID();
    this.#leaseEnd = this.#readLease(sharedInstant());
    lifeline.lease(this.#leaseEnd);
    lifeline.childStarting(`TENURE_RUN=${run}`);
    // A signal that came before there was a command to pass it to.
    if (signals.stopped !== null) return null;
    if (this.#term.signal.aborted || until(this.#leaseEnd) <= 0) return null;
    const [argv0 = '', ...args] = this.#words;
    const child = spawn(this.#path, args, {
      argv0,
      // A session and group of its own: to be ended as a whole, and so that a terminal's signals come through us alone.
      detached: true,
      stdio: 'inherit',
      env: { ...withoutSecrets(env), ...this.#settings(), TENURE_RUN: run },
    });
    if (child.pid !== undefined) {
      this.#group = child.pid;
      lifeline.childRuns(child.pid);
      this.#around.onStart(child.pid);
    }
    const exit = new Promise<number>((resolve, reject) => {
      child.once('error', (error) => {
        if (child.pid === undefined) reject(spawnFailure(this.#path, error));
      });
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]));
    });
    if (child.pid === undefined) return exit;
    const look = () => this.#look();
    this.#term.signal.addEventListener('abort', look, { once: true });
    this.#cancels.push(
      () => this.#term.signal.removeEventListener('abort', look),
      signals.passTo((signal) => this.#signal(signal)),
      // Told of before the term is: its lease is renewed within the same turn.
      onRenewal(() => queueMicrotask(look)),
    );
    this.#look();
    return exit;
  }

  #settings(): NodeJS.ProcessEnv {
    return {
      TENURE_TOKEN: this.#term.token.toString(),
      TENURE_TERM: String(this.#term.number),
      TENURE_ELECTION: this.#term.election,
      TENURE_LEADER_ID: this.#term.leaderId,
    };
  }

  #readLease(now: Instant): Instant {
    // Read after the clocks: whatever time passes between makes it end earlier, never later.
    return after(now, this.#term.remainingMs());
  }

  #look(): void {
    const { signal, state } = this.#term;
    if (state !== 'lost') {
      this.#leaseEnd = this.#readLease(sharedInstant());
      this.#around.lifeline.lease(this.#leaseEnd);
    }
    // Somebody else leads: there is no lease left to use up.
    const superseded = state === 'lost' && (signal.reason as LeadershipLostError).reason === 'superseded';
    const now = sharedInstant();
    const { do: what, againInMs } = due(
      {
        remainingMs: superseded ? 0 : until(this.#leaseEnd, now),
        stopping: signal.aborted,
        toldForMs: this.#toldAt === null ? null : elapsed(this.#toldAt, now),
      },
      this.#around.limits,
    );
    clearTimeout(this.#timer);
    if (againInMs !== null) this.#timer = setTimeout(() => this.#look(), Math.ceil(againInMs));
    if (what !== 'nothing') this.#end(what, now);
  }

  #end(how: 'terminate' | 'kill', now: Instant): void {
    if (this.#toldAt === null) {
      const { signal } = this.#term;
      const reason = signal.aborted ? (signal.reason as LeadershipLostError).reason : 'renewal_overdue';
      this.#around.logger.warn({ reason }, 'the leadership is lost or given up: the command is told to end');
      this.#toldAt = now;
    }
    if (how === 'kill') this.#around.logger.warn({}, 'the command has not ended in its time: it is killed');
    this.#signal(how === 'kill' ? 'SIGKILL' : 'SIGTERM');
  }

  #signal(signal: NodeJS.Signals): void {
    signalGroup(this.#group, signal);
  }

  /** Kills what is left of the group. @returns whether there was anything */
  async #rest(): Promise<boolean> {
    let any = false;
    while (groupLives(this.#group)) {
      any = true;
      this.#signal('SIGKILL');
      await sleep(KILL_AGAIN_MS);
    }
    return any;
  }
}

/** What lets us into the ensemble and others to the sidecar: the command needs neither, and what it starts even less. */
const SECRETS = ['TENURE_AUTH', 'TENURE_TLS_PASSPHRASE', 'TENURE_AGENT_TOKEN'];

function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.includes(name)));
}
