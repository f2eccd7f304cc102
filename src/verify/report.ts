import { gapBoundMs, gaps } from './gaps.js';
import type { History } from './history.js';
import type { Violation } from './violation.js';

export const QUORUM_UNKNOWN =
  'times without a leader are not judged against the quorum: not all servers say how they do (srvr and mntr, over plain TCP)';

/** A run in numbers. Times are milliseconds. */
export interface Summary {
  readonly seed: number;
  readonly tookMs: number;
  readonly sessionTimeoutMs: number;
  readonly quorumKnown: boolean;
  /** How many there were of each kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly terms: number;
  readonly writes: number;
  readonly refused: number;
  readonly batches: number;
  /** While somebody was well. */
  readonly leaderless: { readonly medianMs: number; readonly longestMs: number; readonly boundMs: number };
}

export function summary(history: History): Summary {
  const { happenings, acts, writes, batches, beginAt, endAt, seed, settings } = history;
  const faults = new Map<string, number>();
  for (const each of happenings) {
    if (each.type === 'fault' && each.phase === 'begin') faults.set(each.fault, (faults.get(each.fault) ?? 0) + 1);
  }
  const longest = gaps(history)
    .map(({ longestMs }) => longestMs)
    .sort((a, b) => a - b);
  const at = (share: number) => longest[Math.min(longest.length - 1, Math.floor(share * longest.length))] ?? 0;
  return {
    seed,
    tookMs: endAt - beginAt,
    sessionTimeoutMs: settings.sessionTimeoutMs,
    quorumKnown: settings.quorumKnown,
    faults: Object.fromEntries([...faults].sort(([a], [b]) => (a < b ? -1 : 1))),
    terms: acts.length,
    writes: writes.length,
    refused: happenings.filter(({ type }) => type === 'refused').length,
    batches: batches.length,
    leaderless: { medianMs: at(0.5), longestMs: at(1), boundMs: gapBoundMs(history) },
  };
}

/** A run for people to read. */
export function report(history: History, violations: readonly Violation[]): string {
  const { seed, tookMs, sessionTimeoutMs, faults, terms, writes, refused, batches, leaderless } = summary(history);
  const list = Object.entries(faults).map(([name, count]) => `${name} ${count}`);
  const { medianMs, longestMs, boundMs } = leaderless;
  const lines = [
    `seed ${seed}, ${(tookMs / 1_000).toFixed(0)} s, session timeout ${sessionTimeoutMs} ms`,
    `faults: ${list.join(', ') || 'none'}`,
    `${terms} terms acted, ${writes} writes accepted and ${refused} refused, ${batches} batches`,
    `leaderless while somebody was well: median ${medianMs.toFixed(0)} ms, longest ${longestMs.toFixed(0)} ms of at most ${boundMs.toFixed(0)}`,
  ];
  if (!history.settings.quorumKnown) lines.push(QUORUM_UNKNOWN);
  if (violations.length === 0) lines.push('no violations');
  for (const { kind, at, detail } of violations) {
    lines.push(`VIOLATION ${kind}${at === undefined ? '' : ` at ${(at / 1_000).toFixed(3)} s`}: ${detail}`);
  }
  return lines.join('\n');
}
