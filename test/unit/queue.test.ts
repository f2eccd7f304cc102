import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aheadOf,
  candidateUuid,
  checkHeadroom,
  inOrder,
  isOurs,
  nodePrefix,
  sequenceHeadroom,
  sequenceOf,
  uuidOf,
} from '../../src/election/queue.js';
import { SequenceExhaustedError } from '../../src/errors.js';

const UUID = '26d68c40-080c-4c6e-ba20-b2ae5c538262';
/** As the server prints it: `%010d`. */
const printed = (sequence: number) =>
  sequence < 0 ? `-${String(-sequence).padStart(9, '0')}` : String(sequence).padStart(10, '0');

describe('the order of the queue', () => {
  it.each([
    [`_c_${UUID}-lock-0000000007`, 7],
    [`_c_${UUID}-latch-0000000000`, 0],
    ['lock-2147483647', 2_147_483_647],
    ['lock--2147483648', -2_147_483_648],
    ['lock--000000005', -5],
    ['0000000012', 12],
    ['member', null],
    ['lock-12', null],
    ['', null],
    ['lock-00000000x7', null],
  ])('the sequence of %s is %s', (node, sequence) => {
    expect(sequenceOf(node)).toBe(sequence);
  });

  it('every number that the counter can take is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (sequence) => {
        for (const word of ['lock-', 'latch-']) {
          expect(sequenceOf(`${nodePrefix(UUID, word)}${printed(sequence)}`)).toBe(sequence);
        }
      }),
    );
  });

  it('is by number alone, whatever stands before it, and ignores names without one', () => {
    const names = ['zz-0000000001', 'owner', `${nodePrefix(UUID)}0000000003`, 'aa-0000000002', 'config'];
    expect(inOrder(names)).toEqual(['zz-0000000001', 'aa-0000000002', `${nodePrefix(UUID)}0000000003`]);
  });

  it('is the same for everyone, in whatever order the server lists', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 31 - 1 })), fc.integer(), (sequences, seed) => {
        const names = sequences.map((sequence) => `n-${printed(sequence)}`);
        const shuffled = [...names].sort(
          (a, b) => ((a.length * 31 + a.charCodeAt(3)) ^ seed) - ((b.length * 31 + b.charCodeAt(3)) ^ seed),
        );
        expect(inOrder(shuffled)).toEqual(inOrder(names));
        expect(inOrder(names).map(sequenceOf)).toEqual([...sequences].sort((a, b) => a - b));
      }),
    );
  });

  it('two nodes with one number (a counter that stuck) stand in one order for all', () => {
    expect(inOrder(['b-2147483647', 'a-2147483647'])).toEqual(['a-2147483647', 'b-2147483647']);
  });

  it('tells who stands before a node', () => {
    const queue = ['a-0000000001', 'b-0000000002', 'c-0000000003'];
    expect(aheadOf(queue, 'c-0000000003')).toEqual(['a-0000000001', 'b-0000000002']);
    expect(aheadOf(queue, 'a-0000000001')).toEqual([]);
  });

  it('finds the uuid in names of our format only', () => {
    expect(uuidOf(`${nodePrefix(UUID)}0000000001`)).toBe(UUID);
    expect(uuidOf(`${nodePrefix(UUID, 'latch-')}0000000001`)).toBe(UUID);
    expect(uuidOf(`_c_${UUID}x-lock-0000000001`)).toBeNull();
    expect(uuidOf('lock-0000000001')).toBeNull();
  });

  it('knows a candidate of our kind by its name in any queue', () => {
    const random = '6f1c7f0e-6a0b-4c55-9a57-1f1a8a4f3c11';
    const ours = candidateUuid(random);
    expect(ours).toBe('6f1c7f0e-6a0b-8c55-9a57-1f1a8a4f3c11');
    expect(isOurs(`${nodePrefix(ours)}0000000001`)).toBe(true);
    expect(isOurs(`${nodePrefix(ours, 'latch-')}0000000001`)).toBe(true);
    // Curator's, go-zookeeper's, kazoo's in two forms, and none at all.
    expect(isOurs(`_c_${random}-lock-0000000001`)).toBe(false);
    expect(isOurs('_c_6f1c7f0e6a0b8c559a571f1a8a4f3c11-lock-0000000001')).toBe(false);
    expect(isOurs('6f1c7f0e6a0b8c559a571f1a8a4f3c11-lock-0000000001')).toBe(false);
    expect(isOurs('6f1c7f0e6a0b8c559a571f1a8a4f3c11__lock__0000000001')).toBe(false);
    expect(isOurs('lock-0000000001')).toBe(false);
  });
});

describe('the end of the sequence', () => {
  it.each([2_147_483_647, 2_146_483_648, -2_147_483_648, -1])('number %s is refused with the cure', (sequence) => {
    const node = `${nodePrefix(UUID)}${printed(sequence)}`;
    expect(() => checkHeadroom(node, '/tenure/x/queue')).toThrow(SequenceExhaustedError);
    expect(() => checkHeadroom(node, '/tenure/x/queue')).toThrow(/\/tenure\/x\/queue.*delete the empty queue/s);
  });

  it('a million before the end is still accepted', () => {
    expect(() => checkHeadroom(`${nodePrefix(UUID)}${printed(2_146_483_647)}`, '/q')).not.toThrow();
    expect(sequenceHeadroom(0)).toBe(2_147_483_647);
    expect(sequenceHeadroom(-5)).toBe(0);
  });
});
