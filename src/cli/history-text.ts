import type { ControlChange, EndedTerm, HistoryEntry } from '../election/history.js';
import { showDuration } from './duration.js';
import type { Page } from './help.js';
import { table, visible } from './text.js';

const CHANGES: Readonly<Record<ControlChange['change'], string>> = {
  pause: 'paused',
  resume: 'resumed',
  transfer: 'transferred to',
  evict: 'evicted',
  raise_floor: 'floor raised to',
};

/** One line for each entry, in their order. */
export function historyText(entries: readonly HistoryEntry[], { style }: Pick<Page, 'style'>): string {
  const heading = ['WHEN', 'WHAT', 'WHO', 'MORE'].map(style.bold);
  return table([heading, ...entries.map((entry) => (entry.kind === 'term' ? termRow(entry) : controlRow(entry)))]);
}

function termRow({ term, token, leaderId, from, to, how, leaderlessMs }: EndedTerm): string[] {
  const led = Date.parse(to ?? '') - Date.parse(from ?? '');
  const more = [
    Number.isNaN(led) ? '' : `led for ${showDuration(Math.max(0, led))}`,
    leaderlessMs === null ? '' : `then nobody for ${showDuration(leaderlessMs)}`,
    `token ${token}`,
  ];
  return [visible(to ?? from ?? '-'), `term ${term} ${visible(how)}`, visible(leaderId), joined(more)];
}

function controlRow({ change, at, by, reason, to }: ControlChange): string[] {
  const what = CHANGES[change] ?? visible(change);
  return [visible(at), what, visible(by), joined([to === undefined ? '' : visible(to), visible(reason)])];
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(', ');
}
