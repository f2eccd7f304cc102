import type { ActSpan, Happening, History } from './history.js';

/** A time in which nobody acted, between two terms. */
export interface Gap {
  readonly from: ActSpan;
  readonly to: ActSpan;
  /** The longest part of it in which somebody could have been expected to take over. */
  readonly longestMs: number;
  /** What may have caused it; undefined where nothing is known that would. */
  readonly cause: string | undefined;
}

/** A leaderless time of less than this needs no explanation: a machine can be that busy. */
const NOTABLE_MS = 500;

/**
 * How long a failover may take while the quorum is stable and somebody is well: the session's timeout, which the ensemble rounds up by at most a
 * tick and a half, two writes, and the patience of a successor that had to wait it out.
 */
export function gapBoundMs({ settings }: History): number {
  const { sessionTimeoutMs, tickTimeMs, leaseMs, slackMs } = settings;
  return sessionTimeoutMs + 1.5 * tickTimeMs + 1.06 * leaseMs + slackMs;
}

/** All gaps between the terms that acted, in order. */
export function gaps(history: History): Gap[] {
  const spans = [...history.acts].sort((a, b) => (BigInt(a.token) < BigInt(b.token) ? -1 : 1));
  const conditions = new Conditions(history);
  const found: Gap[] = [];
  for (const [index, to] of spans.entries()) {
    const from = spans[index - 1];
    if (from === undefined || to.first <= from.last) continue;
    const longestMs = conditions.longestGood(from.last, to.first);
    found.push({
      from,
      to,
      longestMs,
      cause: to.first - from.last < NOTABLE_MS ? 'short' : conditions.cause(from, to),
    });
  }
  return found;
}

/** The longest part of the time before the first act in which somebody could have been expected to lead, in milliseconds. */
export function longestBeforeFirstMs(history: History): number {
  const first = history.acts.reduce((earliest, span) => Math.min(earliest, span.first), Number.POSITIVE_INFINITY);
  if (first === Number.POSITIVE_INFINITY || first <= history.beginAt) return 0;
  return new Conditions(history).longestGood(history.beginAt, first);
}

/** What the run was like from moment to moment. */
class Conditions {
  readonly #happenings: readonly Happening[];
  readonly #leadTimeMs: number;

  constructor({ happenings, settings }: History) {
    this.#happenings = [...happenings].sort((a, b) => a.at - b.at);
    this.#leadTimeMs = settings.sessionTimeoutMs + 1.5 * settings.tickTimeMs;
  }

  /**
   * The longest uninterrupted time between the two moments in which the quorum was well, and so was a worker. Each new disturbance, and the
   * end of each, begins it anew.
   */
  longestGood(from: number, to: number): number {
    const state = new State();
    let since = from;
    let longest = 0;
    for (const happening of this.#happenings) {
      if (happening.at > to) break;
      const good = state.good;
      state.apply(happening);
      if (happening.at < from || !disturbs(happening)) continue;
      if (good) longest = Math.max(longest, happening.at - since);
      since = happening.at;
    }
    return state.good ? Math.max(longest, to - since) : longest;
  }

  cause(from: ActSpan, to: ActSpan): string | undefined {
    const state = new State();
    for (const happening of this.#happenings) {
      if (happening.at > to.first) break;
      state.apply(happening);
      // A death shows its effect up to a session timeout later.
      if (happening.at < from.last - this.#leadTimeMs) continue;
      if (happening.type === 'fault') return `${happening.fault} ${happening.phase}`;
      if (happening.type === 'process' && happening.who === from.who) return `${happening.who} ${happening.what}`;
      if (happening.type === 'quorum' && !happening.ok) return 'quorum lost';
    }
    return state.underFault;
  }
}

function disturbs(happening: Happening): boolean {
  return happening.type === 'fault' || happening.type === 'process' || happening.type === 'quorum';
}

class State {
  readonly #alive = new Set<string>();
  readonly #faults = new Map<number, Extract<Happening, { type: 'fault' }>>();
  #quorum = true;

  apply(happening: Happening): void {
    if (happening.type === 'quorum') this.#quorum = happening.ok;
    else if (happening.type === 'process') {
      if (happening.what === 'ready') this.#alive.add(happening.who);
      else this.#alive.delete(happening.who);
    } else if (happening.type === 'fault') {
      if (happening.phase === 'begin') this.#faults.set(happening.number, happening);
      else this.#faults.delete(happening.number);
    }
  }

  get good(): boolean {
    const faults = [...this.#faults.values()];
    if (!this.#quorum || faults.some(({ stalls }) => stalls)) return false;
    return [...this.#alive].some((who) => !faults.some(({ on }) => on.includes(who)));
  }

  get underFault(): string | undefined {
    const [fault] = this.#faults.values();
    return fault && `${fault.fault} under way`;
  }
}
