import { expect, it } from 'vitest';
import type { RawStat } from '../../src/zookeeper/native/addon.js';
import { statFrom } from '../../src/zookeeper/native/stat.js';

const raw = (change: Partial<RawStat>): RawStat => ({
  czxid: 1,
  mzxid: 2,
  version: 3,
  cversion: 4,
  numChildren: 5,
  ctime: new Date(6),
  mtime: new Date(7),
  ephemeralOwner: '0',
  ...change,
});

it('carries transaction ids up to 2^53 - 1 exactly', () => {
  const stat = statFrom(raw({ czxid: 2 ** 53 - 1 }), 'read', '/a');
  expect(stat).toEqual({
    czxid: 9_007_199_254_740_991n,
    mzxid: 2n,
    version: 3,
    cversion: 4,
    children: 5,
    ctime: 6,
    mtime: 7,
    owner: null,
  });
});

it.each(['czxid', 'mzxid'] as const)('refuses a %s that the addon may have rounded', (field) => {
  // The first double that two integers round to.
  expect(() => statFrom(raw({ [field]: 2 ** 53 }), 'read', '/a')).toThrow(
    expect.objectContaining({ kind: 'inexact_integer', operation: 'read', path: '/a', maybeApplied: true }),
  );
});

it.each([
  ['1', '0000000000000001'],
  ['1000013c35d0000', '01000013c35d0000'],
  ['f100000000000000', 'f100000000000000'],
])('pads the owner %s', (hex, owner) => {
  expect(statFrom(raw({ ephemeralOwner: hex }), 'read', '/a').owner).toBe(owner);
});
