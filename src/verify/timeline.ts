import type { Happening, History } from './history.js';
import type { Violation } from './violation.js';

const WIDTH = 1_600;
const LEFT = 155;
const ROW = 18;
const COLOURS = ['#4269d0', '#efb118', '#3ca951', '#ff725c', '#a463f2', '#6cc5b0', '#9c6b4e', '#ff8ab7'];

/** A run as a picture (SVG): who acted when and in which term, what was done to them, and what went wrong. */
export function timeline(history: History, violations: readonly Violation[]): string {
  const { beginAt, endAt, calmAt } = history;
  const x = (at: number) => LEFT + ((Math.max(at, beginAt) - beginAt) / (endAt - beginAt)) * (WIDTH - LEFT - 20);
  const parts: string[] = [];
  let row = 0;
  const label = (text: string): number => {
    const y = 30 + row++ * ROW;
    parts.push(`<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${escapeXml(text)}</text>`);
    return y;
  };
  const bar = (y: number, from: number, to: number, colour: string, title: string): void => {
    const width = Math.max(1, x(to) - x(from));
    parts.push(
      `<rect x="${x(from).toFixed(1)}" y="${y + 2}" width="${width.toFixed(1)}" height="${ROW - 5}" fill="${colour}"><title>${escapeXml(title)}</title></rect>`,
    );
  };

  const workers = [...new Set(history.acts.map(({ who }) => who.split('.')[0] ?? who))].sort();
  for (const worker of workers) {
    const y = label(worker);
    for (const { who, term, first, last } of history.acts) {
      if (who.split('.')[0] !== worker) continue;
      bar(y, first, last, COLOURS[term % COLOURS.length] as string, `${who}, term ${term}`);
    }
  }
  const y = label('no quorum');
  for (const [from, to] of absences(history.happenings, endAt)) bar(y, from, to, '#d33', 'no quorum');
  for (const [fault, spans] of faults(history.happenings, endAt)) {
    const y = label(fault);
    for (const { from, to, detail } of spans) bar(y, from, to, '#888', `${fault}: ${detail}`);
  }
  const height = 30 + row * ROW + 30;
  for (const { at, kind, detail } of violations) {
    if (at === undefined) continue;
    const mark = x(beginAt + at).toFixed(1);
    parts.push(
      `<line x1="${mark}" x2="${mark}" y1="24" y2="${height - 26}" stroke="red" stroke-width="2"><title>${escapeXml(`${kind}: ${detail}`)}</title></line>`,
    );
  }
  for (let s = 0; s * 1_000 <= endAt - beginAt; s += tick((endAt - beginAt) / 1_000)) {
    const mark = x(beginAt + s * 1_000);
    parts.push(`<text x="${mark.toFixed(1)}" y="${height - 8}" text-anchor="middle">${s} s</text>`);
  }
  const calm = x(calmAt).toFixed(1);
  parts.push(`<line x1="${calm}" x2="${calm}" y1="24" y2="${height - 26}" stroke="#393" stroke-dasharray="4"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="white"/>
<text x="${LEFT}" y="16">seed ${history.seed}: ${history.acts.length} terms, ${violations.length} violations; the dashed line ends the faults</text>
${parts.join('\n')}
</svg>
`;
}

function absences(happenings: readonly Happening[], endAt: number): [number, number][] {
  const spans: [number, number][] = [];
  let since: number | null = null;
  for (const happening of happenings) {
    if (happening.type !== 'quorum') continue;
    if (!happening.ok) since ??= happening.at;
    else if (since !== null) {
      spans.push([since, happening.at]);
      since = null;
    }
  }
  if (since !== null) spans.push([since, endAt]);
  return spans;
}

interface Span {
  readonly from: number;
  to: number;
  readonly detail: string;
}

function faults(happenings: readonly Happening[], endAt: number): Map<string, Span[]> {
  const rows = new Map<string, Span[]>();
  const open = new Map<number, Span>();
  for (const happening of happenings) {
    if (happening.type !== 'fault') continue;
    if (happening.phase === 'begin') {
      const span = { from: happening.at, to: endAt, detail: happening.detail ?? happening.on.join(', ') };
      open.set(happening.number, span);
      rows.set(happening.fault, [...(rows.get(happening.fault) ?? []), span]);
    } else {
      const span = open.get(happening.number);
      if (span !== undefined) span.to = happening.at;
    }
  }
  return new Map([...rows].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function tick(seconds: number): number {
  return [5, 10, 30, 60, 120, 300].find((step) => seconds / step <= 20) ?? 600;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
