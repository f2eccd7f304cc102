import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { amount, duration, table } from '../../examples/settlement/format.js';
import { Narrator } from '../../examples/settlement/narrator.js';
import { parseOptions } from '../../examples/settlement/options.js';

function narrated(terminal: boolean, tell: (narrator: Narrator) => void): string {
  const out = Object.assign(new PassThrough(), { isTTY: terminal, columns: 40 });
  tell(new Narrator(out as unknown as NodeJS.WriteStream));
  return String(out.read() ?? '');
}

describe('what the settlement demo prints', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('has colours on a terminal only, and not with NO_COLOR', () => {
    vi.stubEnv('TERM', 'xterm');
    vi.stubEnv('NO_COLOR', '');
    expect(narrated(true, (narrator) => narrator.say('x', 'red'))).toContain('\u001b[31mx\u001b[39m');
    expect(narrated(false, (narrator) => narrator.say('x', 'red'))).not.toContain('\u001b');
    vi.stubEnv('NO_COLOR', '1');
    expect(narrated(true, (narrator) => narrator.say('x', 'red'))).not.toContain('\u001b');
  });

  it('aligns columns, numbers to the right', () => {
    const rows = [
      ['1', 'a', '850 ms'],
      ['12', 'bcd', '-'],
    ];
    expect(table(['term', 'worker', 'led for'], rows)).toEqual([
      'term  worker  led for',
      '   1  a        850 ms',
      '  12  bcd           -',
    ]);
  });

  it('shows amounts and durations', () => {
    expect(amount(123_456)).toBe('1,234.56');
    expect(amount(-5)).toBe('-0.05');
    expect(duration(849.6)).toBe('850 ms');
    expect(duration(2_314)).toBe('2.31 s');
  });

  it('refuses options that there are not', () => {
    expect(parseOptions(['--fast'])).toEqual({ fast: true, keep: false, help: false });
    expect(() => parseOptions(['--quick'])).toThrow("Unknown option '--quick'");
    expect(() => parseOptions(['now'])).toThrow("Unexpected argument 'now'");
  });
});
