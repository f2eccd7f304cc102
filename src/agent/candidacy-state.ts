import type { PreviousTerm, TermState } from '../index.js';

/**
 * One candidacy of a client, as a pure core: what its client has said and was told, and where it
 * stands. Moments are milliseconds of the monotonic clock. Whether it leads at this moment is not
 * in here: only the term knows, and only when it is asked.
 *
 *     joining → waiting → patient → term → joining …      and from each of them: failed, ended
 */
export interface CandidacyState {
  readonly hold: Hold;
  readonly phase: Phase;
  /** Up to when its client may act by the latest word that it was given; what came later can't shorten that. */
  readonly actsUntil: number;
}

/** What keeps the candidacy. */
export type Hold =
  | { readonly kind: 'ttl'; readonly ttlMs: number; readonly heardAt: number }
  /** `idleSince`: when the last stream was closed, or when it joined; `graceMs` may pass from then on. */
  | { readonly kind: 'stream'; readonly open: number; readonly idleSince: number; readonly graceMs: number };

export type Phase =
  | { readonly name: 'joining' }
  | { readonly name: 'waiting' | 'patient'; readonly ahead: number; readonly paused: boolean }
  /** Held by a term, be it over: its client has not settled yet. `askedAt`: when the client last asked, or it began. */
  | { readonly name: 'term'; readonly askedAt: number }
  /** Can't join again by itself; the client may have it tried again by saying that it has settled. */
  | { readonly name: 'failed'; readonly reason: string }
  | { readonly name: 'ended'; readonly reason: Ending };

export type Ending = 'resigned' | 'expired' | 'shutdown';

export type CandidacyEvent =
  /** The client asked, with its key; `put`: by the request that counts as a sign of life. */
  | { readonly type: 'asked'; readonly put: boolean; readonly ttlMs?: number | undefined }
  | { readonly type: 'granted'; readonly mayActMs: number }
  | { readonly type: 'stream_opened' }
  | { readonly type: 'stream_closed' }
  | { readonly type: 'campaigning' }
  | { readonly type: 'queued'; readonly ahead: number }
  | { readonly type: 'patient' }
  | { readonly type: 'paused'; readonly paused: boolean }
  | { readonly type: 'term' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'ended'; readonly reason: Ending };

/** A stream must be opened within this. */
const FIRST_STREAM_MS = 5_000;
/** A stream that breaks may be opened again within this. */
const NEXT_STREAM_MS = 1_000;
/** A leader that asks for no deadline for this many of them is taken for gone, whatever its stream: it may be frozen. */
const SILENT_DEADLINES = 5;
/** How much slower than ours a client's clock may run. */
const CLOCK_RATE = 1.06;

export function joiningState(hold: 'ttl' | 'stream', ttlMs: number, now: number): CandidacyState {
  return {
    hold:
      hold === 'ttl'
        ? { kind: 'ttl', ttlMs, heardAt: now }
        : { kind: 'stream', open: 0, idleSince: now, graceMs: FIRST_STREAM_MS },
    phase: { name: 'joining' },
    actsUntil: now,
  };
}

export function candidacyStep(state: CandidacyState, event: CandidacyEvent, now: number): CandidacyState {
  const { hold, phase } = state;
  if (phase.name === 'ended') return state;
  switch (event.type) {
    case 'asked':
      return {
        ...state,
        hold: event.put && hold.kind === 'ttl' ? { ...hold, ttlMs: event.ttlMs ?? hold.ttlMs, heardAt: now } : hold,
        phase: phase.name === 'term' ? { ...phase, askedAt: now } : phase,
      };
    case 'granted':
      return { ...state, actsUntil: Math.max(state.actsUntil, now + event.mayActMs * CLOCK_RATE) };
    case 'stream_opened':
      return hold.kind === 'stream' ? { ...state, hold: { ...hold, open: hold.open + 1 } } : state;
    case 'stream_closed':
      return hold.kind === 'stream'
        ? { ...state, hold: { ...hold, open: hold.open - 1, idleSince: now, graceMs: NEXT_STREAM_MS } }
        : state;
    case 'campaigning':
      return { ...state, phase: { name: 'joining' } };
    case 'queued':
      if (phase.name !== 'joining' && phase.name !== 'waiting' && phase.name !== 'patient') return state;
      return { ...state, phase: { name: 'waiting', ahead: event.ahead, paused: paused(phase) } };
    case 'patient':
      if (phase.name !== 'joining' && phase.name !== 'waiting') return state;
      return { ...state, phase: { name: 'patient', ahead: 0, paused: paused(phase) } };
    case 'paused':
      if (phase.name !== 'waiting' && phase.name !== 'patient') return state;
      return phase.paused === event.paused ? state : { ...state, phase: { ...phase, paused: event.paused } };
    case 'term':
      return { ...state, phase: { name: 'term', askedAt: now } };
    case 'failed':
    case 'ended':
      return { ...state, phase: { name: event.type, reason: event.reason } as Phase };
  }
}

function paused(phase: Phase): boolean {
  return 'paused' in phase && phase.paused;
}

/** When it ends if nothing more is heard of its client; `leads`: its term is neither draining nor lost. */
export function endsAt(state: CandidacyState, leads: boolean, deadlineMs: number): number {
  const { hold, phase, actsUntil } = state;
  if (phase.name === 'ended') return Number.POSITIVE_INFINITY;
  if (hold.kind === 'ttl') return Math.max(hold.heardAt + hold.ttlMs, actsUntil);
  if (hold.open === 0) return Math.max(hold.idleSince + hold.graceMs, actsUntil);
  if (phase.name !== 'term' || !leads) return Number.POSITIVE_INFINITY;
  return Math.max(phase.askedAt, actsUntil) + SILENT_DEADLINES * deadlineMs;
}

/**
 * The longest that its client may be allowed to act, in milliseconds. One that should have a stream and has none is held to
 * the deadline that it was given: else it would go on for ever by asking.
 */
export function grantableMs({ hold, actsUntil }: CandidacyState, now: number): number {
  if (hold.kind === 'ttl' || hold.open > 0 || now < hold.idleSince + hold.graceMs) return Number.POSITIVE_INFINITY;
  return Math.max(0, (actsUntil - now) / CLOCK_RATE);
}

/** A term as it is at this moment. */
export interface TermFacts {
  readonly number: number;
  readonly token: bigint;
  readonly previous: PreviousTerm | null;
  readonly state: TermState;
  /** Whether `assert()` passes. */
  readonly mayAct: boolean;
  readonly remainingMs: number;
  /** Why it is over, or given up. */
  readonly reason: string | null;
}

export type AnsweredState = 'joining' | 'waiting' | 'patient' | 'leading' | 'suspect' | 'draining' | 'lost' | 'held';

/** How a candidacy stands, for its client. */
export interface Standing {
  readonly state: AnsweredState;
  readonly leading: boolean;
  readonly term: number | null;
  readonly token: string | null;
  readonly previous: { term: number; token: string; leaderId: string; end: string } | null;
  readonly position: number | null;
  readonly mayActMs: number;
  readonly reason: string | null;
}

const NO_TERM = { leading: false, term: null, token: null, previous: null, mayActMs: 0 } as const;

/** `facts` belong to the phase `term` and to nothing else. */
export function standing(
  { phase }: CandidacyState,
  facts: TermFacts | null,
  held: boolean,
  deadlineMs: number,
): Standing {
  if (phase.name === 'failed' || phase.name === 'ended') {
    return { ...NO_TERM, state: 'lost', position: null, reason: phase.reason };
  }
  if (phase.name === 'term' && facts !== null) return inTerm(facts, deadlineMs);
  if (held) return { ...NO_TERM, state: 'held', position: null, reason: 'held' };
  if (phase.name === 'waiting' || phase.name === 'patient') {
    return { ...NO_TERM, state: phase.name, position: phase.ahead, reason: phase.paused ? 'paused' : null };
  }
  return { ...NO_TERM, state: 'joining', position: null, reason: null };
}

function inTerm(facts: TermFacts, deadlineMs: number): Standing {
  const { number, token, previous, state, mayAct, remainingMs, reason } = facts;
  if (state === 'lost') return { ...NO_TERM, state, position: null, reason };
  const leading = mayAct && remainingMs > 0 && (state === 'leading' || state === 'recovering');
  return {
    state: leading ? 'leading' : state === 'draining' ? state : 'suspect',
    leading,
    term: number,
    token: token.toString(),
    previous: previous === null ? null : { ...previous, token: previous.token.toString() },
    position: 0,
    // Rounded down: a fraction more than what is left would be a lie.
    mayActMs: leading ? Math.floor(Math.min(deadlineMs, remainingMs)) : 0,
    reason,
  };
}
