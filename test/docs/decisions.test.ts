import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../docs/decisions/', import.meta.url);
const files = readdirSync(folder)
  .filter((file) => /^\d{4}-.+\.md$/.test(file))
  .sort();

describe('The decisions', () => {
  it('are numbered without a gap, in their names and in their titles', () => {
    expect(files.length).toBeGreaterThan(0);
    for (const [index, file] of files.entries()) {
      const number = index + 1;
      expect(file.slice(0, 4)).toBe(String(number).padStart(4, '0'));
      expect(readFileSync(new URL(file, folder), 'utf8')).toMatch(new RegExp(`^# ${number}\\. `));
    }
  });

  it('are all in the index, in their order', () => {
    const index = readFileSync(new URL('README.md', folder), 'utf8');
    const rows = [...index.matchAll(/^\| \[(\d+)\]\(([^)]+)\) \|/gm)].map(([, number, file]) => [Number(number), file]);
    expect(rows).toEqual(files.map((file, at) => [at + 1, file]));
  });
});
