import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidOptionError, NotLeadingError } from '../../../src/errors.js';
import { folderOf } from '../../../src/fencing/file-layout.js';
import { refusal, waitMs, whenOver } from '../../../src/fencing/guard.js';
import { fencingHeaders } from '../../../src/fencing/http.js';
import { readFencing } from '../../../src/fencing/http-headers.js';
import { checkResource, InvalidResourceError, presenter } from '../../../src/fencing/index.js';
import { MAX_TOKEN } from '../../../src/token.js';
import { fakeTerm } from '../../conformance/terms.js';

const names = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });
const isName = (name: string): boolean => {
  try {
    checkResource(name);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidResourceError);
    return false;
  }
};

describe('names of resources', () => {
  test('come through headers and folders unchanged and apart', () => {
    fc.assert(
      fc.property(names.filter(isName), names.filter(isName), fc.bigInt(1n, MAX_TOKEN), (a, b, token) => {
        const headers = fencingHeaders(fakeTerm(token, { leaderId: b }), a);
        for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]+$/);
        expect(readFencing((name) => headers[name])).toEqual({ token, resource: a, holder: b.slice(0, 256) });
        expect(folderOf(a) === folderOf(b)).toBe(a === b);
      }),
    );
  });
});

describe('a presenter', () => {
  test('may wait as long as an older one may hold, and hold after that', () => {
    const term = presenter(1n, { timeoutMs: 1_000 });
    expect(term.holdLimitMs).toBe(1_000);
    expect(waitMs(term)).toBeGreaterThan(2_900);
    expect(() => term.assert()).not.toThrow();
    expect(() => presenter(1n, { timeoutMs: 0, waitMs: 0 }).assert()).toThrow(NotLeadingError);
    expect(() => presenter(0n)).toThrow(/not a fencing token/);
    expect(() => presenter(1n, { signal: AbortSignal.abort(new Error('gone')) }).assert()).toThrow('gone');
    expect(refusal(term)).toBe('stale');
  });

  test.each([
    { timeoutMs: Number.POSITIVE_INFINITY },
    { timeoutMs: 2 ** 31 },
    { timeoutMs: -1 },
    { waitMs: Number.NaN },
  ])('is refused %j: a timer would take it for 1 ms', (times) => {
    expect(() => presenter(1n, times)).toThrow(InvalidOptionError);
    expect(() => presenter(1n, { timeoutMs: 2 ** 31 - 1 })).not.toThrow();
  });
});

describe('whenOver', () => {
  test('calls once, when assert() no longer passes, not when the signal aborts', async () => {
    const draining = new AbortController();
    let over = false;
    const term = fakeTerm(1n, {
      forMs: 30,
      signal: draining.signal,
      assert: () => {
        if (over) throw new NotLeadingError('over');
      },
    });
    const reasons: unknown[] = [];
    whenOver(term, (reason) => reasons.push(reason));
    draining.abort();
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(reasons).toEqual([]);
    over = true;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(reasons).toEqual([expect.any(NotLeadingError)]);
  });
});
