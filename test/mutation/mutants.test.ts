import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MUTANTS } from './mutants.js';

describe('the mutants', () => {
  it.each(MUTANTS)('$name: the place is there, once', ({ file, find, replace }) => {
    const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
    expect(source.split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
  });

  it('are at least a dozen', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(12);
  });
});
