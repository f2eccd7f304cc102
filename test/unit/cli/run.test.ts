import { describe, expect, it } from 'vitest';
import { due, type Situation } from '../../../src/cli/run/due.js';
import { parseHealthAddress } from '../../../src/cli/run/health.js';
import { checkGrace, graceMs, longestGraceMs } from '../../../src/cli/run/limits.js';
import { UsageError } from '../../../src/cli/usage-error.js';

describe('what a command has to be told', () => {
  const LIMITS = { graceMs: 1_000, drainMs: 5_000 };
  const leading: Situation = { remainingMs: 3_000, stopping: false, toldForMs: null };

  it.each<[string, Partial<Situation>, ReturnType<typeof due>]>([
    ['it leads', {}, { do: 'nothing', againInMs: 2_000 }],
    ['as much is left of the lease as the grace', { remainingMs: 1_000 }, { do: 'terminate', againInMs: 1_000 }],
    ['less is left than that', { remainingMs: 300 }, { do: 'terminate', againInMs: 300 }],
    ['nothing is left, and it was never told', { remainingMs: 0 }, { do: 'kill', againInMs: null }],
    ['it is given up', { stopping: true }, { do: 'terminate', againInMs: 3_000 }],
    [
      'it is given up, with a long lease',
      { stopping: true, remainingMs: 9_000 },
      { do: 'terminate', againInMs: 5_000 },
    ],
    ['it was told, and has time', { toldForMs: 1_000, stopping: true }, { do: 'nothing', againInMs: 3_000 }],
    ['it was told, and the lease was renewed since', { toldForMs: 1_000 }, { do: 'nothing', againInMs: 3_000 }],
    ['it was told, and its time is over', { toldForMs: 5_000, stopping: true }, { do: 'kill', againInMs: null }],
    ['it was told, and the lease is over', { toldForMs: 10, remainingMs: -1 }, { do: 'kill', againInMs: null }],
  ])('%s', (_what, situation, expected) => {
    expect(due({ ...leading, ...situation }, LIMITS)).toEqual(expected);
  });

  it('looks again before anything is due, whatever the situation', () => {
    for (let remainingMs = 1; remainingMs < 12_000; remainingMs += 97) {
      for (const toldForMs of [null, 0, 2_000, 4_999]) {
        const { do: what, againInMs } = due({ remainingMs, stopping: false, toldForMs }, LIMITS);
        if (what === 'kill') continue;
        const then = {
          remainingMs: remainingMs - (againInMs ?? 0),
          stopping: false,
          toldForMs: toldForMs === null ? null : toldForMs + (againInMs ?? 0),
        };
        expect(againInMs).toBeGreaterThan(0);
        expect(due(then, LIMITS).do).toBe(toldForMs === null && what === 'nothing' ? 'terminate' : 'kill');
      }
    }
  });
});

describe('the grace', () => {
  const granted = { timeoutMs: 9_000, leaseMs: 6_000 };

  it('is half of the lease by default, and never so long that a renewal on time would end the command', () => {
    expect(graceMs(undefined, granted)).toBe(3_000);
    expect(longestGraceMs(granted)).toBe(4_200);
    expect(graceMs(10_000, granted)).toBe(4_200);
  });

  it("that the lease doesn't carry is refused, with both and the longest one", () => {
    expect(() => checkGrace(4_200, granted)).not.toThrow();
    expect(() => checkGrace(4_201, granted)).toThrow(UsageError);
    expect(() => checkGrace(5_000, granted)).toThrow(/--grace 5 s .* lease of 6 s, .* timeout of 9 s .* at most 4.2 s/);
  });
});

describe('--health-port', () => {
  it.each([
    ['8080', { host: undefined, port: 8080 }],
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['localhost:1', { host: 'localhost', port: 1 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
  ])('%s', (text, address) => {
    expect(parseHealthAddress(text)).toEqual(address);
  });

  it.each(['', 'http', '70000', '::1:80', '-1', '127.0.0.1:', ':80:'])('refuses %j', (text) => {
    expect(() => parseHealthAddress(text)).toThrow(UsageError);
  });
});
