import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StaleTokenError } from '../../../src/errors.js';
import { presenter } from '../../../src/fencing/index.js';
import { FileLedger } from '../../../src/verify/file-ledger.js';

let directory: string;
let ledger: FileLedger;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tenure-ledger-'));
  ledger = new FileLedger(directory);
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a ledger in files', () => {
  it('keeps the order of what it accepted over its parts, and refuses a lower token', async () => {
    const [older, newer] = [presenter(10n), presenter(20n)];
    for (let i = 0; i < 150; i++) await ledger.write(older, 'a', `a-${i}`);
    for (let i = 0; i < 100; i++) await ledger.write(newer, 'b', `b-${i}`);
    await expect(ledger.write(older, 'a', 'too-late')).rejects.toThrow(StaleTokenError);
    const writes = await new FileLedger(directory).writes();
    expect(writes.map(({ order }) => order)).toEqual(Array.from({ length: 250 }, (_, i) => i));
    expect(writes[149]).toEqual({ order: 149, key: 'a-149', who: 'a', token: '10' });
    expect(writes[249]).toEqual({ order: 249, key: 'b-99', who: 'b', token: '20' });
  }, 60_000);

  it('does a batch once, over its parts, and counts one that somebody else says it has done, too', async () => {
    const term = presenter(10n);
    expect(await ledger.batch(term, 'second-59', 'a')).toBe(true);
    expect(await ledger.batch(term, 'second-60', 'a')).toBe(true);
    expect(await ledger.batch(term, 'second-59', 'b')).toBe(false);
    const done = new Map([
      ['second-59', 1],
      ['second-60', 2],
    ]);
    expect(await ledger.batches(done)).toEqual([
      { key: 'second-59', times: 1 },
      { key: 'second-60', times: 2 },
    ]);
  });

  it('is empty before anybody has written', async () => {
    expect(await ledger.writes()).toEqual([]);
    expect(await ledger.batches(new Map())).toEqual([]);
  });
});
