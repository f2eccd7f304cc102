import { stripVTControlCharacters } from 'node:util';

/** Text that somebody else wrote, safe for a terminal and on one line: ids and metadata may hold anything. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '�');
}

/** How many columns it takes: characters, not counting colours. Wide scripts take more; then a column is ragged, no more. */
export function width(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}

/** Lines of at most `columns`, broken between words, each after the first one indented. */
export function wrap(text: string, columns: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && width(longer) > columns) {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}

/** Columns of equal width, two spaces between them, nothing at the ends of lines. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  }
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - width(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
