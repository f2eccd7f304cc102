import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeCandidate, encodeCandidate } from '../../src/election/candidate.js';
import { electionPaths } from '../../src/election/names.js';
import { inOrder, sequenceOf } from '../../src/election/queue.js';
import { decodeRecord, encodeRecord } from '../../src/election/record.js';
import {
  CandidateTooLargeError,
  InvalidElectionNameError,
  InvalidTokenError,
  TermRecordError,
} from '../../src/errors.js';
import { formatToken, parseToken } from '../../src/token.js';

/** What every implementation of the protocol passes: this one, and the helpers of the clients in other languages. */
function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8')) as T;
}

interface Text {
  readonly about: string;
  readonly text: string;
  readonly normal?: string;
}

interface Hex {
  readonly about: string;
  readonly hex: string;
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const fromHex = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const asText = (data: Uint8Array) => new TextDecoder().decode(data);

describe('the queue', () => {
  const { sequence, order } = vectors<{
    sequence: { node: string; sequence: number | null }[];
    order: { about: string; nodes: string[]; ordered: string[] }[];
  }>('queue');
  it.each(sequence)('the number of $node is $sequence', ({ node, sequence: expected }) => {
    expect(sequenceOf(node)).toBe(expected);
  });
  it.each(order)('$about', ({ nodes, ordered }) => {
    expect(inOrder(nodes)).toEqual(ordered);
    expect(inOrder([...nodes].reverse())).toEqual(ordered);
  });
});

describe('tokens', () => {
  const { good, bad, sum } = vectors<{
    good: string[];
    bad: string[];
    sum: { floor: string; czxid: string; token: string | null }[];
  }>('token');
  it.each(good)('%s is one', (text) => expect(formatToken(parseToken(text))).toBe(text));
  it.each(bad)('%j is none', (text) => expect(() => parseToken(text)).toThrow(InvalidTokenError));
  it.each(sum)('$floor + $czxid is $token', ({ floor, czxid, token }) => {
    const added = () => formatToken(BigInt(floor) + BigInt(czxid));
    if (token === null) expect(added).toThrow(InvalidTokenError);
    else expect(added()).toBe(token);
  });
});

describe('term records', () => {
  const { good, bad, badHex } = vectors<{ good: Text[]; bad: Text[]; badHex: Hex[] }>('record');
  it.each(good)('$about', ({ text, normal = text }) => {
    expect(asText(encodeRecord(decodeRecord(utf8(text), '/t')))).toBe(normal);
  });
  it.each(bad)("can't be read: $about", ({ text }) => {
    expect(() => decodeRecord(utf8(text), '/t')).toThrow(TermRecordError);
  });
  it.each(badHex)("can't be read: $about", ({ hex }) => {
    expect(() => decodeRecord(fromHex(hex), '/t')).toThrow(TermRecordError);
  });
});

describe('candidates', () => {
  const { good, foreign, foreignHex, tooLarge } = vectors<{
    good: Text[];
    foreign: Text[];
    foreignHex: Hex[];
    tooLarge: number;
  }>('candidate');
  const read = (text: string) => {
    const candidate = decodeCandidate(utf8(text));
    if (candidate === null) throw new Error('no candidate of ours');
    return candidate;
  };
  it.each(good)('$about', ({ text, normal = text }) => {
    expect(asText(encodeCandidate(read(text)))).toBe(normal);
  });
  it.each(foreign)('foreign: $about', ({ text }) => expect(decodeCandidate(utf8(text))).toBeNull());
  it.each(foreignHex)('foreign: $about', ({ hex }) => expect(decodeCandidate(fromHex(hex))).toBeNull());
  it('more than 8 KiB are refused', () => {
    const sized = (length: number) => ({ ...read(good[0]?.text ?? ''), id: 'x'.repeat(length) });
    expect(() => encodeCandidate(sized(tooLarge))).toThrow(CandidateTooLargeError);
    expect(encodeCandidate(sized(tooLarge - 1))).toHaveLength(8192);
  });
});

describe('elections', () => {
  const { good, bad, longest } = vectors<{
    good: { name: string; queue: string; encoded: string }[];
    bad: string[];
    longest: number;
  }>('election');
  it.each(good)('$name', ({ name, queue, encoded }) => {
    expect(electionPaths('/tenure', name).queue).toBe(queue);
    expect(decodeURIComponent(encoded)).toBe(name);
  });
  it.each([...bad, 'x'.repeat(longest + 1)])('%j is refused', (name) => {
    expect(() => electionPaths('/tenure', name)).toThrow(InvalidElectionNameError);
  });
  it('the longest is accepted', () => {
    expect(() => electionPaths('/tenure', 'x'.repeat(longest))).not.toThrow();
  });
});
