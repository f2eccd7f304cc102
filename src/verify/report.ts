import { gapBoundMs, gaps } from './gaps.js';
import type { History } from './history.js';
import type { Violation } from './violation.js';

/** A run for people to read. */
export function report(history: History, violations: readonly Violation[]): string {
  const { happenings, acts, writes, batches, beginAt, endAt, seed, settings } = history;
  const faults = new Map<string, number>();
  for (const each of happenings) {
    if (each.type === 'fault' && each.phase === 'begin') faults.set(each.fault, (faults.get(each.fault) ?? 0) + 1);
  }
  const refused = happenings.filter(({ type }) => type === 'refused').length;
  const all = gaps(history);
  const longest = all.map(({ longestMs }) => longestMs).sort((a, b) => a - b);
  const at = (share: number) => longest[Math.min(longest.length - 1, Math.floor(share * longest.length))] ?? 0;
  const list = [...faults].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`);
  const lines = [
    `seed ${seed}, ${((endAt - beginAt) / 1_000).toFixed(0)} s, session timeout ${settings.sessionTimeoutMs} ms`,
    `faults: ${list.join(', ') || 'none'}`,
    `${acts.length} terms acted, ${writes.length} writes accepted and ${refused} refused, ${batches.length} batches`,
    `leaderless while somebody was well: median ${at(0.5).toFixed(0)} ms, longest ${at(1).toFixed(0)} ms of at most ${gapBoundMs(history).toFixed(0)}`,
  ];
  if (violations.length === 0) lines.push('no violations');
  for (const { kind, at, detail } of violations) {
    lines.push(`VIOLATION ${kind}${at === undefined ? '' : ` at ${(at / 1_000).toFixed(3)} s`}: ${detail}`);
  }
  return lines.join('\n');
}
