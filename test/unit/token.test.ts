import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidTokenError } from '../../src/errors.js';
import { formatToken, isToken, MAX_TOKEN, parseToken } from '../../src/token.js';

describe('tokens', () => {
  it('survive the way through text exactly, over their whole range', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: MAX_TOKEN }), (token) => {
        expect(parseToken(formatToken(token))).toBe(token);
        expect(parseToken(token.toString())).toBe(token);
      }),
    );
  });

  it.each([
    ['above 2^53', '9007199254740993', 9_007_199_254_740_993n],
    ['the highest', '9223372036854775807', MAX_TOKEN],
    ['the lowest', '1', 1n],
  ])('%s is read exactly', (_, text, token) => {
    expect(parseToken(text)).toBe(token);
  });

  it.each([
    '',
    '0',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    ' 1',
    '1 ',
    '0x10',
    '9223372036854775808',
    '99999999999999999999',
    'one',
  ])('refuses %j, naming it', (text) => {
    expect(() => parseToken(text)).toThrow(InvalidTokenError);
    expect(() => parseToken(text)).toThrow(JSON.stringify(text));
  });

  it('refuses what is no bigint in range', () => {
    for (const value of [0n, -1n, MAX_TOKEN + 1n]) expect(() => formatToken(value)).toThrow(InvalidTokenError);
    for (const value of [1, '1', null, undefined, 2n ** 64n]) expect(isToken(value)).toBe(false);
  });
});
