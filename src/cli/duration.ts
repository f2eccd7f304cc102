const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds from text such as `500ms`, `10s`, `1.5m`, `2h`, `7d`; undefined where it is none. A unit is a must: only 0 has none. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  const unit = UNITS[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}

/** As {@link parseDuration} reads it again: `30d`, `10s`, `500ms`. */
export function writeDuration(ms: number): string {
  if (ms > 0 && ms % 86_400_000 === 0) return `${ms / 86_400_000}d`;
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

/** The shortest text for a duration, with at most three digits that count: `1.25 s`, `4 min`. For people, and not to be parsed. */
export function showDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown';
  const size = Math.abs(ms);
  if (size < 1_000) return `${digits(ms)} ms`;
  if (size < 120_000) return `${digits(ms / 1_000)} s`;
  if (size < 7_200_000) return `${digits(ms / 60_000)} min`;
  if (size < 172_800_000) return `${digits(ms / 3_600_000)} h`;
  return `${digits(ms / 86_400_000)} d`;
}

function digits(value: number): string {
  return String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}
