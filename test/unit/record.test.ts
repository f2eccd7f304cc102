import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCandidate, encodeCandidate, printable } from '../../src/election/candidate.js';
import { decodeRecord, EMPTY_RECORD, type EndHow, encodeRecord, type TermRecord } from '../../src/election/record.js';
import { CandidateTooLargeError, InvalidOptionError, TermRecordError } from '../../src/errors.js';
import { MAX_TOKEN } from '../../src/token.js';

const how = fc.constantFrom<EndHow>('resigned', 'paused', 'transferred', 'evicted', 'died', 'vanished');
const token = fc.bigInt({ min: 1n, max: MAX_TOKEN });
const metadata = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  fc.oneof(fc.string(), fc.integer(), fc.boolean()),
);
const record: fc.Arbitrary<TermRecord> = fc.record({
  latest: fc.option(
    fc.record({
      term: fc.integer({ min: 1, max: 2 ** 40 }),
      token,
      node: fc.string(),
      leaderId: fc.string(),
      session: fc.string(),
      leaseMs: fc.integer({ min: 1, max: 100_000 }),
      metadata,
      electedAt: fc.string(),
      ended: fc.option(fc.record({ at: fc.string(), how })),
    }),
  ),
  floor: fc.bigInt({ min: 0n, max: MAX_TOKEN }),
  pause: fc.option(fc.record({ by: fc.string(), at: fc.string(), reason: fc.string() })),
  transfer: fc.option(
    fc.record({ to: fc.string(), by: fc.string(), at: fc.string(), reason: fc.string(), deadline: fc.string() }),
  ),
  previous: fc.option(fc.record({ term: fc.integer({ min: 1 }), token, leaderId: fc.string(), end: how })),
});

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the term record', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(record, (written) => {
        expect(decodeRecord(encodeRecord(written), '/t')).toEqual(written);
      }),
    );
  });

  it('is empty where nobody has led yet', () => {
    expect(decodeRecord(new Uint8Array(0), '/t')).toEqual(EMPTY_RECORD);
    expect(decodeRecord(encodeRecord(EMPTY_RECORD), '/t')).toEqual(EMPTY_RECORD);
  });

  it('keeps tokens as decimal text', () => {
    const latest = {
      term: 1,
      token: MAX_TOKEN,
      node: 'n',
      leaderId: 'a',
      session: 's',
      leaseMs: 1,
      metadata: {},
      electedAt: '',
      ended: null,
    };
    const text = new TextDecoder().decode(encodeRecord({ ...EMPTY_RECORD, latest }));
    expect(JSON.parse(text)).toMatchObject({ v: 1, token: '9223372036854775807', floor: '0' });
  });

  it.each([
    ['no JSON', 'hello'],
    ['no object', '[1]'],
    ['a newer version', '{"v":2,"term":1}'],
    ['no version', '{}'],
    ['a token as a number', '{"v":1,"term":1,"token":5,"floor":"0"}'],
    [
      'a token out of range',
      '{"v":1,"term":1,"token":"9223372036854775808","node":"n","leaderId":"a","session":"s","leaseMs":1,"electedAt":"","floor":"0"}',
    ],
    ['a term below 1', '{"v":1,"term":-1,"token":"5","floor":"0"}'],
    ['no floor', '{"v":1,"term":0}'],
    ['an unknown end', '{"v":1,"term":0,"floor":"0","previous":{"term":1,"token":"1","leaderId":"a","end":"bored"}}'],
  ])('refuses %s, naming the path', (_, text) => {
    expect(() => decodeRecord(bytes(text), '/tenure/x/term')).toThrow(TermRecordError);
    expect(() => decodeRecord(bytes(text), '/tenure/x/term')).toThrow('/tenure/x/term');
  });

  it('refuses any bytes that are no record, with that error and no other', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (data) => {
        expect(() => decodeRecord(data, '/t')).toThrow(TermRecordError);
      }),
    );
  });
});

describe('a candidate’s data', () => {
  const candidate = { id: 'w1', host: 'h', pid: 7, metadata: { zone: 'a' }, joinedAt: '2026-01-01T00:00:00.000Z' };

  it('is read as it was written', () => {
    expect(decodeCandidate(encodeCandidate(candidate))).toEqual(candidate);
  });

  it('is at most 8 KiB, counted in bytes', () => {
    expect(() => encodeCandidate({ ...candidate, metadata: { x: 'ü'.repeat(4000) } })).not.toThrow();
    expect(() => encodeCandidate({ ...candidate, metadata: { x: 'ü'.repeat(4100) } })).toThrow(CandidateTooLargeError);
    expect(() => encodeCandidate({ ...candidate, id: 'x'.repeat(9000) })).toThrow(/at most 8192/);
  });

  it('refuses metadata that JSON has no form for', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    for (const bad of [circle, { n: 1n }]) {
      expect(() => encodeCandidate({ ...candidate, metadata: bad })).toThrow(InvalidOptionError);
    }
  });

  it('of others is any bytes, and never more than text to show', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (data) => {
        decodeCandidate(data);
        expect(printable(data)).not.toMatch(/\p{Cc}/u);
        expect(printable(data).length).toBeLessThanOrEqual(80);
      }),
    );
    expect(decodeCandidate(bytes('worker-1'))).toBeNull();
    expect(decodeCandidate(bytes('{"id":7}'))).toBeNull();
    expect(decodeCandidate(bytes('{"id":"x","metadata":[1],"pid":"7"}'))).toEqual({
      id: 'x',
      host: '',
      pid: 0,
      metadata: {},
      joinedAt: '',
    });
  });
});
