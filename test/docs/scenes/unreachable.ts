import assert from 'node:assert/strict';

/* Nobody answers where the block connects to. */

const said: unknown[] = [];
console.error = (...what) => void said.push(...what);

export async function afterwards(): Promise<void> {
  assert.match(String(said), /^[A-Z_]+: .*; trying again later$/s);
}
