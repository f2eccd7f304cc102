import { defaultLeaseMs, RENEWALS_PER_TIMEOUT } from '../../lease/lease.js';
import type { ServerFacts } from '../doctor/facts.js';
import { exceedance, type Tail } from './tail.js';

/** A measured or known trouble must fit this many times: the next one is longer. */
const MARGIN = 1.5;

/** Timeouts that people choose, in seconds. */
const USUAL = [1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 90, 120];

export interface Question {
  /** Null: too little was measured. */
  readonly tail: Tail | null;
  readonly blockMs: number;
  /** Each must not cost the leadership: the longest silence that was measured, those under injected trouble, and the worker's own longest pause. */
  readonly mustOutlast: readonly Trouble[];
  /** At most one false failover of a leader in so long, in milliseconds. */
  readonly acceptedEveryMs: number;
  /** Of a write, at the 99th percentile. */
  readonly writeMs: number;
  /** Null where the servers don't tell. */
  readonly bounds: ServerFacts['bounds'];
}

export interface Trouble {
  readonly what: string;
  readonly ms: number;
}

/** What one session timeout buys. */
export interface Choice {
  readonly timeoutMs: number;
  readonly leaseMs: number;
  /** A leader keeps its term through a silence of so long. */
  readonly outlastsMs: number;
  /** From a death that nobody announces until somebody leads again, at most. */
  readonly failoverMs: number;
  /** How long until a leader loses its term for no reason, on average; null where too little was measured. */
  readonly falseEveryMs: number | null;
  /** That it happens within a day. */
  readonly falsePerDay: number | null;
  /** What it doesn't outlast with a margin. */
  readonly tooShortFor: readonly string[];
}

export interface Proposal {
  readonly choices: readonly Choice[];
  /** The shortest that does all that is asked; null where none of those that the ensemble grants does. */
  readonly best: Choice | null;
}

export function propose(question: Question): Proposal {
  const choices = timeouts(question.bounds).map((timeoutMs) => choice(timeoutMs, question));
  const good = ({ falseEveryMs, tooShortFor }: Choice) =>
    falseEveryMs !== null && falseEveryMs >= question.acceptedEveryMs && tooShortFor.length === 0;
  return { choices, best: choices.find(good) ?? null };
}

/** A renewal is sent every tenth of T only: that much may have passed already when the trouble begins. */
export function outlasts(timeoutMs: number): number {
  return defaultLeaseMs(timeoutMs) - timeoutMs / RENEWALS_PER_TIMEOUT;
}

function choice(timeoutMs: number, { tail, blockMs, mustOutlast, writeMs, bounds }: Question): Choice {
  const outlastsMs = outlasts(timeoutMs);
  const chance = tail === null ? null : exceedance(tail, outlastsMs);
  const falseEveryMs = chance === null ? null : blockMs / chance;
  return {
    timeoutMs,
    leaseMs: defaultLeaseMs(timeoutMs),
    outlastsMs,
    // docs/guarantees.md: T + 1.5 ticks + two writes.
    failoverMs: timeoutMs + 1.5 * (bounds?.tickMs ?? 2_000) + 2 * writeMs,
    falseEveryMs,
    falsePerDay: falseEveryMs === null ? null : 1 - Math.exp(-86_400_000 / falseEveryMs),
    tooShortFor: mustOutlast.filter(({ ms }) => ms * MARGIN > outlastsMs).map(({ what }) => what),
  };
}

function timeouts(bounds: Question['bounds']): number[] {
  const usual = USUAL.map((seconds) => seconds * 1_000);
  if (bounds === null) return usual.filter((ms) => ms >= 2_000 && ms <= 60_000);
  const within = usual.filter((ms) => ms > bounds.minMs && ms < bounds.maxMs);
  return [bounds.minMs, ...within, bounds.maxMs];
}
