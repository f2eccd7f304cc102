import { decodeRecord, type TermOfRecord } from '../../src/election/record.js';
import { type Act, FINISHING_MS, type Told } from './fleet.js';
import type { Change, Outcome, Transaction } from './transaction.js';

/** Gathers each version of an election's record as it is committed: the truth about its terms. */
export class RecordTrail {
  readonly terms: TermOfRecord[] = [];
  readonly violations: string[] = [];
  readonly #path: string;
  readonly #queue: string;
  readonly #leaseMs: number;
  readonly #sessionTimeoutMs: number;
  #floor = 0n;
  readonly #told = new Set<string>();
  /** By the token of a term that is over or is to stop: until when it may act, and why no longer. */
  readonly #bounds = new Map<bigint, Bound>();
  #toStop: Bound | null = null;

  constructor(election: string, sessionTimeoutMs: number) {
    this.#path = `/tenure/${election}/term`;
    this.#queue = `/tenure/${election}/queue`;
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#leaseMs = (sessionTimeoutMs * 2) / 3;
  }

  /**
   * Whether it may still be done:
   *
   * - not once the record says that the term has ended, or names a later one;
   * - for no longer than a lease after its node was deleted: nothing is confirmed ahead of that news that was sent behind it;
   * - for no longer than a session timeout after an operator has ended it, and for as long and what its worker takes to finish
   *   after the election was paused: that is told by a watch and a read.
   */
  acted({ at, who, term, token }: Act): void {
    for (const bound of [this.#bounds.get(token), this.terms.at(-1)?.token === token ? this.#toStop : null]) {
      if (bound == null || at <= bound.until || this.#told.has(`${token} ${bound.why}`)) continue;
      this.#told.add(`${token} ${bound.why}`);
      this.violations.push(
        `${who} acted in term ${term} at ${at.toFixed(1)}, ${bound.why} at ${bound.since.toFixed(1)}`,
      );
    }
  }

  committed({ change, zxid }: Transaction, outcome: Outcome, at: number): void {
    if (!outcome.ok) return;
    for (const each of change.type === 'multi' ? change.changes : [change]) this.#committed(each, zxid, at);
  }

  #committed(change: Change, zxid: bigint, at: number): void {
    if (change.type === 'remove') this.#deleted([change.path], at);
    if (change.type === 'close') this.#deleted(change.ephemerals, at);
    if ((change.type !== 'write' && change.type !== 'create') || change.path !== this.#path) return;
    const record = decodeRecord(change.data, change.path);
    const { latest, floor, pause } = record;
    if (floor < this.#floor) this.violations.push(`the floor fell from ${this.#floor} to ${floor} (zxid ${zxid})`);
    this.#floor = floor;
    if (latest === null) return;
    if (pause === null) this.#toStop = null;
    else this.#toStop ??= bound('though it was paused', at, this.#sessionTimeoutMs + 1.03 * FINISHING_MS);
    if (latest.ended !== null) {
      const evicted = latest.ended.how === 'evicted';
      this.#bind(latest.token, bound(`recorded as ${latest.ended.how}`, at, evicted ? this.#sessionTimeoutMs : 0));
    }
    const before = this.terms.at(-1);
    // Ended, paused, transferred, or its floor raised: the same term.
    if (before?.token === latest.token && before.term === latest.term) {
      this.terms[this.terms.length - 1] = latest;
      return;
    }
    if (latest.term !== (before?.term ?? 0) + 1)
      this.violations.push(`term ${latest.term} follows ${before?.term ?? 0} (zxid ${zxid})`);
    if (before !== undefined && latest.token <= before.token) {
      this.violations.push(`token ${latest.token} of term ${latest.term} is not above ${before.token}`);
    }
    if (pause !== null) this.violations.push(`term ${latest.term} was claimed while the election was paused`);
    if (latest.token <= floor) this.violations.push(`token ${latest.token} is not above the floor ${floor}`);
    if (before !== undefined && record.previous?.token !== before.token)
      this.violations.push(
        `term ${latest.term} names ${record.previous?.token} as the one before, not ${before.token}`,
      );
    if (before !== undefined) this.#bind(before.token, bound(`though term ${latest.term} was claimed`, at, 0));
    this.terms.push(latest);
  }

  #deleted(paths: readonly string[], at: number): void {
    const latest = this.terms.at(-1);
    // Clocks are up to 2.4 % slow.
    if (latest !== undefined && paths.includes(`${this.#queue}/${latest.node}`))
      this.#bind(latest.token, bound('though its node was deleted', at, 1.03 * this.#leaseMs));
  }

  #bind(token: bigint, next: Bound): void {
    const known = this.#bounds.get(token);
    if (known === undefined || next.until < known.until) this.#bounds.set(token, next);
  }
}

/** Whether doubt ends only with a renewal that was sent after it arose: what was on its way then proves nothing. */
export class DoubtTrail {
  readonly violations: string[] = [];
  readonly #since = new Map<string, number>();
  readonly #sentAt = new Map<string, number>();

  told({ who, event, fields, monotonic }: Told): void {
    if (event === 'renewal_confirmed' && 'roundTripMs' in fields)
      this.#sentAt.set(who, monotonic - Number(fields.roundTripMs));
    if (event === 'suspect') this.#since.set(who, monotonic);
    if (event === 'lost') this.#since.delete(who);
    if (event !== 'leading') return;
    const since = this.#since.get(who);
    const sentAt = this.#sentAt.get(who) ?? 0;
    this.#since.delete(who);
    // Sums of doubles.
    if (since !== undefined && sentAt < since - 0.001)
      this.violations.push(
        `${who} is without doubt by a renewal of ${sentAt.toFixed(1)}, though in doubt since ${since.toFixed(1)}`,
      );
  }
}

interface Bound {
  readonly why: string;
  readonly since: number;
  readonly until: number;
}

function bound(why: string, since: number, forMs: number): Bound {
  return { why, since, until: since + forMs };
}

/** Whether any act came after one of a later term: then two have led at once. */
export function overlaps(acts: readonly Act[]): string[] {
  const violations: string[] = [];
  let highest: Act | null = null;
  for (const act of acts) {
    if (highest !== null && act.token < highest.token) {
      violations.push(
        `${act.who} acted in term ${act.term} at ${act.at.toFixed(1)}, after ${highest.who} in term ${highest.term} at ${highest.at.toFixed(1)}`,
      );
    } else highest = act;
  }
  return violations;
}

/** One token has one term and one holder. */
export function oneHolderPerToken(acts: readonly Act[]): string[] {
  const holders = new Map<bigint, string>();
  const violations = new Set<string>();
  for (const { token, term, who } of acts) {
    const holder = `${who} in term ${term}`;
    const known = holders.get(token) ?? holder;
    holders.set(token, known);
    if (known !== holder) violations.add(`token ${token} was held by ${known} and by ${holder}`);
  }
  return [...violations];
}
