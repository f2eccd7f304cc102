import { describe, expect, it } from 'vitest';
import { electionName, electionPaths } from '../../src/election/names.js';
import { InvalidElectionNameError } from '../../src/errors.js';

describe('election names', () => {
  it.each([
    'settlement',
    'payments/tenant-7/shard-3',
    'Überweisung',
    '決済',
    'a',
    'x'.repeat(256),
    'a b',
    'q:1',
    '__proto__',
    'constructor',
  ])('takes %s', (name) => {
    expect(electionName(name)).toBe(name);
  });

  it.each([
    ['', 'must not be empty'],
    ['/a', 'empty segment'],
    ['a/', 'empty segment'],
    ['a//b', 'empty segment'],
    ['.', "'.'"],
    ['a/../b', "'..'"],
    ['queue', "'queue'"],
    ['a/term', "'term'"],
    ['sessions', "'sessions'"],
    ['history/x', "'history'"],
    ['a\u0000b', 'control'],
    ['a\nb', 'control'],
    ['a\u007fb', 'control'],
    ['😀', 'surrogate'],
    ['\uf000', 'private-use'],
    ['x'.repeat(257), 'longer than 256'],
  ])('refuses %j and names the rule', (name, rule) => {
    expect(() => electionName(name)).toThrow(InvalidElectionNameError);
    expect(() => electionName(name)).toThrow(rule);
  });

  it('refuses what is no text', () => {
    for (const value of [undefined, null, 7, {}]) {
      expect(() => electionName(value as unknown as string)).toThrow(InvalidElectionNameError);
    }
  });

  it('lie below the root, the queue elsewhere where asked', () => {
    const paths = electionPaths('/prod/tenure', 'a/b');
    expect([paths.election, paths.queue, paths.history, paths.term]).toEqual([
      '/prod/tenure/a/b',
      '/prod/tenure/a/b/queue',
      '/prod/tenure/a/b/history',
      '/prod/tenure/a/b/term',
    ]);
    expect(electionPaths('/tenure', 'a', '/curator/leader').queue).toBe('/curator/leader');
  });
});
