import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import { term } from './term.js';

export { term };

export async function afterwards({ guard, left }: { guard?: { key(a: string, b: string): string }; left?: unknown }) {
  // Twelve apples went to yesterday's key; today there is none to take.
  assert.equal(left, 0);
  const client = new (await import('ioredis')).Redis(Number(process.env['REDIS_PORT'])) as Redis;
  assert.equal(await client.hget(guard?.key('stock', 'yesterday') ?? '', 'apples'), '12');
  assert.equal(await client.hget('tenure:fence:{stock}', 'token'), String(term.token));
}
