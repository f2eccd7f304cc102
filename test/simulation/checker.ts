import { decodeRecord, type TermOfRecord } from '../../src/election/record.js';
import type { Act } from './fleet.js';
import type { Change, Outcome, Transaction } from './transaction.js';

/** Gathers each version of an election's record as it is committed: the truth about its terms. */
export class RecordTrail {
  readonly terms: TermOfRecord[] = [];
  readonly violations: string[] = [];
  readonly #path: string;
  #floor = 0n;

  constructor(path: string) {
    this.#path = path;
  }

  committed({ change, zxid }: Transaction, outcome: Outcome): void {
    if (!outcome.ok) return;
    for (const each of change.type === 'multi' ? change.changes : [change]) this.#committed(each, zxid);
  }

  #committed(change: Change, zxid: bigint): void {
    if ((change.type !== 'write' && change.type !== 'create') || change.path !== this.#path) return;
    const record = decodeRecord(change.data, change.path);
    const { latest, floor, pause } = record;
    if (floor < this.#floor) this.violations.push(`the floor fell from ${this.#floor} to ${floor} (zxid ${zxid})`);
    this.#floor = floor;
    if (latest === null) return;
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
    this.terms.push(latest);
  }
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
