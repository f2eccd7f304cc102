import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NEMESES } from './nemeses.js';

const page = readFileSync(new URL('../../docs/verification.md', import.meta.url), 'utf8');

test.each(Object.keys(NEMESES))('the documentation names %s', (fault) => {
  expect(page).toContain(`\`${fault}\``);
});
