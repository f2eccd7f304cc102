import { setTimeout as sleep } from 'node:timers/promises';
import type { Metadata } from '../../election/candidate.js';
import type { Term } from '../../election/term.js';
import { Lifeline } from '../../lifeline/lifeline.js';
import { anyOf } from '../../signals.js';
import type { Tenure } from '../../tenure.js';
import type { Context } from '../context.js';
import { signalExit } from '../exit-codes.js';
import { failureOf } from '../failure.js';
import { CommandFailure, UsageError } from '../usage-error.js';
import { findExecutable } from './executable.js';
import { RUN_EXIT } from './exit-codes.js';
import { type Ended, GuardedCommand } from './guarded-command.js';
import { type HealthAddress, type Standing, serveHealth } from './health.js';
import { checkGrace, graceMs } from './limits.js';
import { Signals } from './signals.js';

export type RestartPolicy = 'never' | 'on-failure' | 'always';

/** Durations are milliseconds. */
export interface RunOptions {
  readonly election: string;
  readonly id: string | undefined;
  readonly metadata: Metadata;
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly graceMs: number | undefined;
  readonly drainMs: number;
  readonly takeoverDelayMs: number;
  readonly restart: RestartPolicy;
  readonly restartDelayMs: number;
  /** Give up at once if somebody else stands before us. */
  readonly noWait: boolean;
  readonly waitTimeoutMs: number | undefined;
  readonly conflictExitCode: number;
  readonly health: HealthAddress | null;
  connect(signal: AbortSignal): Promise<Tenure>;
}

/** The election told a worker to drain: our own limit comes first, so that what is ended in time is announced. */
const DRAIN_MARGIN_MS = 5_000;

class WaitedTooLong extends Error {}

/** Leads, and runs the command while it does. @returns the exit code */
export async function run(context: Context, options: RunOptions, process: NodeJS.Process): Promise<number> {
  const [name = ''] = options.command;
  const path = findExecutable(name, context.env['PATH']);
  const signals = new Signals(process);
  try {
    return await new Run(context, options, path, signals).toTheEnd();
  } catch (error) {
    if (signals.stopped !== null && error === signals.stop.reason) return signalExit(signals.stopped);
    if (error instanceof WaitedTooLong) {
      context.logger.info({ election: options.election }, error.message);
      return options.conflictExitCode;
    }
    if (error instanceof CommandFailure || error instanceof UsageError) throw error;
    const { code, message } = failureOf(error);
    throw new CommandFailure(RUN_EXIT.failed, code, message, { cause: error });
  } finally {
    signals.close();
  }
}

class Run {
  readonly #context: Context;
  readonly #options: RunOptions;
  readonly #path: string;
  readonly #signals: Signals;
  #standing: Standing;

  constructor(context: Context, options: RunOptions, path: string, signals: Signals) {
    this.#context = context;
    this.#options = options;
    this.#path = path;
    this.#signals = signals;
    this.#standing = { state: 'connecting', election: options.election, id: options.id ?? '' };
  }

  async toTheEnd(): Promise<number> {
    const { logger } = this.#context;
    const { health, waitTimeoutMs } = this.#options;
    const server = health === null ? null : await serveHealth(health, () => this.#standing);
    const warn = (message: string) => logger.warn({}, message);
    // Before the driver connects. What it promises, that a killed or frozen leader's command doesn't go on, can't be done without.
    const lifeline = Lifeline.acquire(warn);
    if (lifeline === null) {
      throw new CommandFailure(
        RUN_EXIT.failed,
        'NO_LIFELINE',
        "the process that ends the command when this one dies can't be started",
      );
    }
    // Last: a failure until here must leave nothing that keeps the process alive.
    const waitLimit = new AbortController();
    const waitTimer =
      waitTimeoutMs === undefined
        ? undefined
        : setTimeout(() => waitLimit.abort(new WaitedTooLong(TOO_LONG)), waitTimeoutMs);
    const patience = anyOf([this.#signals.stop, waitLimit.signal]);
    try {
      const tenure = await this.#options.connect(patience);
      try {
        return await this.#terms(tenure, lifeline, patience, () => clearTimeout(waitTimer));
      } finally {
        await tenure.close();
      }
    } finally {
      clearTimeout(waitTimer);
      lifeline.release(warn);
      server?.close();
    }
  }

  async #terms(tenure: Tenure, lifeline: Lifeline, patience: AbortSignal, won: () => void): Promise<number> {
    const { election: name, id, metadata, drainMs, takeoverDelayMs, noWait, restartDelayMs } = this.#options;
    if (tenure.session !== null) checkGrace(this.#options.graceMs, tenure.session);
    const election = tenure.election(name, {
      ...(id === undefined ? {} : { id }),
      metadata,
      takeoverDelayMs,
      drainTimeoutMs: drainMs + DRAIN_MARGIN_MS,
    });
    let signal = patience;
    for (;;) {
      this.#standing = { state: 'waiting', election: name, id: election.id };
      const term = noWait ? await election.campaign({ signal, wait: false }) : await election.campaign({ signal });
      if (term === null) throw new WaitedTooLong(CONFLICT);
      won();
      // The limit was for the first time.
      signal = this.#signals.stop;
      const ended = await this.#term(tenure, lifeline, term);
      if (ended !== null && !this.#restarts(ended)) return ended.told ? RUN_EXIT.lost : ended.code;
      this.#signals.stop.throwIfAborted();
      await sleep(restartDelayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** The command under one term; null where it was over before anything was started. */
  async #term(tenure: Tenure, lifeline: Lifeline, term: Term): Promise<Ended | null> {
    const { drainMs, command, election } = this.#options;
    const granted = tenure.session ?? { timeoutMs: 0, leaseMs: 0 };
    const guarded = new GuardedCommand(term, this.#path, command, {
      lifeline,
      signals: this.#signals,
      limits: { graceMs: graceMs(this.#options.graceMs, granted), drainMs },
      logger: this.#context.logger,
      onRenewal: (listener) => {
        tenure.events.on('renewal_confirmed', listener);
        return () => tenure.events.off('renewal_confirmed', listener);
      },
      onStart: (pid) => {
        this.#standing = {
          state: 'leading',
          election,
          id: term.leaderId,
          term: term.number,
          token: term.token.toString(),
          pid,
        };
      },
    });
    const onAbort = () => {
      this.#standing = { ...this.#standing, state: 'stopping' };
    };
    term.signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await guarded.run(this.#context.env);
    } finally {
      // All of the command is gone: the next one may lead at once.
      await term.resign();
    }
  }

  #restarts({ code, told }: Ended): boolean {
    if (this.#signals.stopped !== null) return false;
    const { restart } = this.#options;
    return restart === 'always' || (restart === 'on-failure' && (told || code !== 0));
  }
}

const TOO_LONG = 'nobody gave up the leadership in the time given by --wait-timeout';
const CONFLICT = 'somebody else leads, or stands before us';
