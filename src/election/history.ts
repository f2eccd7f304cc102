import { formatToken, parseToken, type Token } from '../token.js';
import type { Claimed } from './campaign.js';
import { isObject, parseObject } from './candidate.js';
import type { EndHow, PreviousTerm, TermOfRecord, TermRecord } from './record.js';

/** A term that is over. Dates are ISO 8601 by the wall clocks of those who wrote them. */
export interface EndedTerm {
  /** Tells it from what an operator did. */
  readonly kind: 'term';
  /** 1, 2, 3, … per election. */
  readonly term: number;
  /** Its fencing token. */
  readonly token: Token;
  /** Who led, at most 256 characters. */
  readonly leaderId: string;
  /** Null where nobody has written down when it began. */
  readonly from: string | null;
  /** Where nobody announced the end: when its leader was last seen by the next one. Null where that isn't known. */
  readonly to: string | null;
  /** How it ended. */
  readonly how: EndHow;
  /** Milliseconds until the next term began. Null while nobody leads since, or where that isn't known. */
  readonly leaderlessMs: number | null;
}

/** What an operator did. */
export interface ControlChange {
  /** Tells it from a term. */
  readonly kind: 'control';
  /** What was done. */
  readonly change: 'pause' | 'resume' | 'transfer' | 'evict' | 'raise_floor';
  /** ISO 8601 by the wall clock of who asked for it. */
  readonly at: string;
  /** Who did it. */
  readonly by: string;
  /** Why. */
  readonly reason: string;
  /** The candidate that a transfer or an eviction names: its node; or the floor, as decimal text. */
  readonly to?: string;
}

/** One line of an election's history; `kind` tells which. */
export type HistoryEntry = EndedTerm | ControlChange;

/** A claim as the history sees it. */
interface Won {
  readonly claimed: Claimed;
  /** Monotonic moment at which its candidate joined. */
  readonly joinedAt: number;
}

/** How many entries are kept. */
export const HISTORY_LENGTH = 50;

/** The longest name of a leader that is kept, in characters. */
const ID_MAX = 256;

/**
 * The history with more in it, the oldest dropped. What it knows already stays as it is, unless it knew less of a
 * term: several may write down the same one.
 */
export function withEntries(history: readonly HistoryEntry[], added: readonly HistoryEntry[]): HistoryEntry[] {
  const entries = [...history];
  for (const entry of added) {
    const known = entries.findIndex((other) => keyOf(other) === keyOf(entry));
    if (known !== -1 && entry.kind === 'control') continue;
    // With more known of it, a term may find another place.
    const [before] = known === -1 ? [] : entries.splice(known, 1);
    const whole = entry.kind === 'term' && before?.kind === 'term' ? fuller(before, entry) : entry;
    entries.splice(placeOf(whole, entries), 0, whole);
  }
  return entries.slice(-HISTORY_LENGTH);
}

function keyOf(entry: HistoryEntry): string {
  return entry.kind === 'term' ? `term ${entry.token}` : `${entry.change} ${entry.at} ${entry.by}`;
}

/** By date, as what is written down late comes late; but terms in their order, whatever the clocks of their leaders say. */
function placeOf(entry: HistoryEntry, entries: readonly HistoryEntry[]): number {
  const terms = entry.kind === 'term' ? entries.map((other) => (other.kind === 'term' ? other.term : 0)) : [];
  const later = entry.kind === 'term' ? terms.findIndex((term) => term > entry.term) : -1;
  const earlier = entry.kind === 'term' ? terms.findLastIndex((term) => term !== 0 && term < entry.term) : -1;
  const date = dateOf(entry);
  let place = later === -1 ? entries.length : later;
  for (; place > earlier + 1; place--) {
    const before = entries[place - 1];
    if (before === undefined || !(dateOf(before) > date)) break;
  }
  return place;
}

function dateOf(entry: HistoryEntry): number {
  return Date.parse((entry.kind === 'term' ? (entry.to ?? entry.from) : entry.at) ?? '');
}

function fuller(a: EndedTerm, b: EndedTerm): EndedTerm {
  return {
    ...a,
    from: a.from ?? b.from,
    to: a.to ?? b.to,
    leaderlessMs: a.leaderlessMs ?? b.leaderlessMs,
  };
}

/** What a record says of terms that are over and of requests that stand, whoever may have failed to write them down. */
export function entriesOf({ latest, previous, pause, transfer }: TermRecord): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  if (previous !== null) entries.push(endedBefore(previous));
  if (latest !== null && latest.ended !== null)
    entries.push(endedTerm(latest, latest.ended.how, latest.ended.at, null));
  if (transfer !== null) {
    const { to, by, at, reason } = transfer;
    entries.push({ kind: 'control', change: 'transfer', at, by, reason, to });
  }
  if (pause !== null) entries.push({ kind: 'control', change: 'pause', ...pause });
  return entries;
}

/** All that is known of a term from the record that names it as the one before. */
function endedBefore({ term, token, leaderId, end }: PreviousTerm): EndedTerm {
  return {
    kind: 'term',
    term,
    token,
    leaderId: leaderId.slice(0, ID_MAX),
    from: null,
    to: null,
    how: end,
    leaderlessMs: null,
  };
}

/** What a claim tells of the term before it, and of the transfer that it fulfils or voids. */
export function succeeded({ claimed, joinedAt }: Won): HistoryEntry[] {
  const { replaced, view, latest, sentAt, leaderlessSince, previous } = claimed;
  const entries = entriesOf(view.record);
  if (replaced === null) return entries;
  const before = replaced.latest;
  const asked = entriesOf({ ...replaced, latest: null });
  if (before === null || previous === null) return [...asked, ...entries];
  const seenMs = sentAt.monotonic - leaderlessSince;
  const electedAt = Date.parse(latest.electedAt);
  const to = before.ended?.at ?? new Date(electedAt - seenMs).toISOString();
  // Who came when nobody led any more knows by the dates alone for how long.
  const leaderlessMs = leaderlessSince < joinedAt ? seenMs : Math.max(seenMs, electedAt - Date.parse(to));
  return [...asked, endedTerm(before, previous.end, to, leaderlessMs), ...entries];
}

export function endedTerm(
  { term, token, leaderId, electedAt }: TermOfRecord,
  how: EndHow,
  to: string | null,
  leaderlessMs: number | null,
): EndedTerm {
  return {
    kind: 'term',
    term,
    token,
    leaderId: leaderId.slice(0, ID_MAX),
    from: electedAt,
    to,
    how,
    leaderlessMs: leaderlessMs === null ? null : Math.round(leaderlessMs),
  };
}

export function encodeHistory(entries: readonly HistoryEntry[]): Uint8Array {
  const plain = entries.map((entry) => (entry.kind === 'term' ? { ...entry, token: formatToken(entry.token) } : entry));
  return new TextEncoder().encode(JSON.stringify({ v: 1, entries: plain }));
}

/**
 * @returns null where these bytes are a history that this release can't read: of a newer one, which must not be written
 *   over. What is damaged is passed over: a history decides nothing.
 */
export function decodeHistory(data: Uint8Array): HistoryEntry[] | null {
  const value = parseObject(data);
  if (value === null) return [];
  if (value['v'] !== 1) return null;
  const entries = Array.isArray(value['entries']) ? value['entries'] : [];
  return entries.map(decodeEntry).filter((entry) => entry !== null);
}

/** What a newer release has written into a field stays as it is: it is shown, and nothing is decided by it. */
function decodeEntry(value: unknown): HistoryEntry | null {
  if (!isObject(value)) return null;
  if (value['kind'] === 'control') {
    const to = value['to'];
    return {
      kind: 'control',
      change: textOr(value['change'], '') as ControlChange['change'],
      at: textOr(value['at'], ''),
      by: textOr(value['by'], ''),
      reason: textOr(value['reason'], ''),
      ...(typeof to === 'string' ? { to } : {}),
    };
  }
  const { term, token, leaderlessMs } = value as { term?: unknown; token?: unknown; leaderlessMs?: unknown };
  if (value['kind'] !== 'term' || typeof term !== 'number' || typeof token !== 'string' || !isToken(token)) return null;
  return {
    kind: 'term',
    term,
    token: parseToken(token),
    leaderId: textOr(value['leaderId'], ''),
    from: textOr(value['from'], null),
    to: textOr(value['to'], null),
    how: textOr(value['how'], 'vanished') as EndHow,
    leaderlessMs: typeof leaderlessMs === 'number' ? leaderlessMs : null,
  };
}

function isToken(text: string): boolean {
  try {
    parseToken(text);
    return true;
  } catch {
    return false;
  }
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise;
}
