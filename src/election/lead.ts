import { LeadershipLostError, type LossReason, StaleTokenError, TokenRegressedError } from '../errors.js';
import { type Backoff, backoffMs } from '../lease/backoff.js';
import { abortSignal, callable, checkKeys, duration, oneOf } from './checks.js';
import { type Host, sleep } from './host.js';
import type { PreviousTerm } from './record.js';
import type { Stoppable } from './stop.js';
import type { Term } from './term.js';

/** Does the leader's work for one term. Its promise settles when the work has stopped, and not before. */
export type Worker<T> = (term: Term) => T | Promise<T>;

/** Options of {@link Election.lead}. */
export interface LeadOptions {
  /** Stops leading and campaigning: the worker drains, then `lead` rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Runs before the worker in each term, with the token already held: load the last committed state,
   * take up what the previous leader left unfinished. The term's state is `recovering` meanwhile.
   */
  readonly recover?: (term: Term, previous: PreviousTerm | null) => void | Promise<void>;
  /** Join again after the worker has returned by itself, instead of resolving with its value. Default false. */
  readonly again?: boolean;
  /** Milliseconds before joining again after the worker has returned by itself. Default 1,000. */
  readonly cooldownMs?: number;
  /** What a worker's (or `recover`'s) error does, after the leadership has been resigned. Default `reject`. */
  readonly onError?: 'reject' | 'rejoin';
}

const REJOIN: Backoff = { baseMs: 200, capMs: 30_000 };

/** A term that was lost sooner than this did nothing much. */
const SHORT_MS = 1_000;

type Outcome<T> =
  | { readonly kind: 'returned'; readonly value: T }
  | { readonly kind: 'threw'; readonly error: unknown };

/** How `lead` gets its terms, and whom it tells of a worker that goes on after its end. */
export interface LeadContext {
  readonly host: Host;
  readonly drainTimeoutMs: number;
  campaign(signal: AbortSignal | undefined): Promise<Term>;
  /** A lighter one that stands for the caller's signal. */
  stop(signal: AbortSignal): Stoppable;
  /** Called when a worker starts; returns what to call when it has settled. */
  working(term: Term): () => void;
}

const LEAD_KEYS = ['signal', 'recover', 'again', 'cooldownMs', 'onError'] as const satisfies (keyof LeadOptions)[];

/** @throws {InvalidOptionError} */
export function checkLead(worker: unknown, options: LeadOptions): void {
  callable('worker', worker, true);
  checkKeys('lead', options, LEAD_KEYS);
  abortSignal('signal', options.signal);
  callable('recover', options.recover);
  oneOf('again', options.again, [true, false]);
  duration('cooldownMs', options.cooldownMs, 0, 0);
  oneOf('onError', options.onError, ['reject', 'rejoin']);
}

/** Term after term: see {@link Election.lead}. */
export async function lead<T>(context: LeadContext, worker: Worker<T>, options: LeadOptions): Promise<T> {
  const { host } = context;
  const { again = false, cooldownMs = 1_000, onError = 'reject' } = options;
  const signal = options.signal === undefined ? undefined : context.stop(options.signal);
  let failures = 0;
  let losses = 0;
  for (;;) {
    const term = await context.campaign(options.signal);
    const outcome = await oneTerm(context, term, worker, signal, options.recover);
    const lost = isLoss(term);
    const regressed = lost || outcome.kind === 'returned' ? null : regression(term, outcome.error);
    // Resolves once the end is known to the ensemble, or the session is dead: no ghost is left when we return.
    await term.resign();
    if (regressed !== null) throw regressed;
    if (outcome.kind === 'threw' && !lost && !signal?.aborted) {
      if (onError === 'reject') throw outcome.error;
      host.logger.error(
        { election: term.election, term: term.number, err: outcome.error },
        'the worker failed; joining again',
      );
      await sleep(host, backoffMs(REJOIN, failures++, host.random), signal);
      continue;
    }
    if (outcome.kind === 'threw' && !isExpected(outcome.error, term)) {
      host.logger.warn(
        { election: term.election, term: term.number, err: outcome.error },
        'the worker ended with an error after its term was over',
      );
    }
    if (signal?.aborted) throw signal.reason;
    failures = 0;
    // Somebody who takes each term away at once shall not make the queue turn over as fast as the network allows.
    losses = lost && term.ledMs < SHORT_MS ? losses + 1 : 0;
    if (lost) {
      if (losses > 1) await sleep(host, backoffMs(REJOIN, losses, host.random), signal);
      continue;
    }
    if (outcome.kind === 'returned' && !again) return outcome.value;
    await sleep(host, cooldownMs, signal);
  }
}

async function oneTerm<T>(
  context: LeadContext,
  term: Term,
  worker: Worker<T>,
  signal: Stoppable | undefined,
  recover: LeadOptions['recover'],
): Promise<Outcome<T>> {
  const onAbort = () => term.drain('resigned');
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const settled = context.working(term);
  const stopReporting = reportOverrun(context, term);
  try {
    if (recover !== undefined && !term.signal.aborted) await recover(term, term.previous);
    term.recovered();
    // Lost while recovering, or given up before it began: the worker never starts.
    await term.whenLeading();
    return { kind: 'returned', value: await worker(term) };
  } catch (error) {
    return { kind: 'threw', error };
  } finally {
    settled();
    stopReporting();
    signal?.removeEventListener('abort', onAbort);
  }
}

const GIVEN_UP: ReadonlySet<LossReason> = new Set(['resigned', 'paused', 'transferred', 'held', 'closed']);

/** Whether the term ended before its worker did, for whatever reason but our own resignation. */
function isLoss(term: Term): boolean {
  return term.signal.aborted && (term.signal.reason as LeadershipLostError).reason !== 'resigned';
}

/** A resource refused the token of a term whose lease was good. The next token would be refused too, so nobody joins again. */
function regression(term: Term, error: unknown): TokenRegressedError | null {
  const stale = staleIn(error);
  if (stale?.token !== term.token || term.remainingMs() <= 0) return null;
  term.refused(stale);
  return new TokenRegressedError(
    `election ${JSON.stringify(term.election)}: ${stale.message}, although the lease of term ${term.number} is good: the ` +
      `ensemble was restored from a backup or rebuilt. Raise the floor to ${stale.highest}: tenure fence raise`,
    { cause: error },
  );
}

/** The refusal that this is, or comes of. */
function staleIn(error: unknown): StaleTokenError | undefined {
  for (let each = error, deep = 0; each instanceof Error && deep < 8; each = each.cause, deep++) {
    if (each instanceof StaleTokenError) return each;
  }
  return undefined;
}

function isExpected(error: unknown, term: Term): boolean {
  return (
    error === term.signal.reason || error instanceof LeadershipLostError || (error as Error)?.name === 'AbortError'
  );
}

/** Where a term was lost (not given up: the term itself sees to that), says loudly that its worker goes on. */
function reportOverrun(context: LeadContext, term: Term): () => void {
  const { host, drainTimeoutMs } = context;
  let stop = () => {};
  const onAbort = () => {
    if (term.state === 'draining' || GIVEN_UP.has((term.signal.reason as LeadershipLostError).reason)) return;
    stop = host.clock.after(drainTimeoutMs, () => {
      const { election, number, token, leaderId } = term;
      host.emit('undrained', { election, candidateId: leaderId, term: number, token, drainTimeoutMs });
    });
  };
  term.signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    term.signal.removeEventListener('abort', onAbort);
    stop();
  };
}
