import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder } from './place.js';
import { term } from './term.js';

export { term };

export async function afterwards(): Promise<void> {
  const published = readFileSync(join(folder, 'srv/reports/daily/2025-05-01.json'), 'utf8');
  assert.deepEqual(JSON.parse(published), { total: 3 });
}
