/** `12:03:07`, by the local clock. */
export function clock(second: number): string {
  return new Date(second * 1_000).toTimeString().slice(0, 8);
}

/** `1,234.56`, from cents. */
export function amount(cents: number): string {
  return (cents / 100).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** `850 ms`, `2.31 s`. */
export function duration(ms: number): string {
  return Math.abs(ms) < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}

/** Columns as wide as their widest cell. Numbers, and what looks like one, to the right. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const right = heads.map((_, column) => rows.every((row) => /^([\d.,]+( m?s)?|-)$/.test(row[column] ?? '')));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(heads), ...rows.map(line)];
}
