import assert from 'node:assert/strict';
import { election } from './election.js';
import { until } from './place.js';

export { election };

export async function afterwards(): Promise<void> {
  const answer = await until(() => fetch(`http://127.0.0.1:${process.env['HTTP_PORT']}/`).catch(() => undefined));
  assert.equal(answer.status, 200);
}
