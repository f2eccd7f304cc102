import { describe, expect, it } from 'vitest';
import { defineCommand } from '../../../src/cli/command.js';
import { COMMANDS } from '../../../src/cli/commands.js';
import { parseDuration, showDuration } from '../../../src/cli/duration.js';
import { EXIT, EXIT_MEANINGS } from '../../../src/cli/exit-codes.js';
import { failureOf } from '../../../src/cli/failure.js';
import { commandHelp, overview, synopsis } from '../../../src/cli/help.js';
import { nearest } from '../../../src/cli/nearest.js';
import { COMMON_OPTIONS } from '../../../src/cli/options.js';
import { parseCommand, splitAtOperand } from '../../../src/cli/parse.js';
import { styleFor, wantsColour } from '../../../src/cli/style.js';
import { table, visible, wrap } from '../../../src/cli/text.js';
import { CommandFailure, UsageError } from '../../../src/cli/usage-error.js';
import { ConnectTimeoutError, CoordinatorError, InvalidOptionError, TokenRegressedError } from '../../../src/errors.js';

const sample = defineCommand({
  name: 'sample',
  summary: 'a command to try',
  description: ['It does nothing.'],
  operands: [
    { name: 'FIRST', required: true, help: 'one' },
    { name: 'MORE', repeated: true, help: 'others' },
  ],
  options: {
    servers: { kind: 'text', short: 's', env: 'SAMPLE_SERVERS', default: 'here', help: 'where' },
    timeout: { kind: 'duration', short: 't', env: 'SAMPLE_TIMEOUT', default: 10_000, help: 'how long' },
    times: { kind: 'count', help: 'how often' },
    tag: { kind: 'text', multiple: true, help: 'what' },
    mode: { kind: 'text', choices: ['fast', 'slow'], help: 'how' },
    reason: { kind: 'text', required: true, env: 'SAMPLE_REASON', help: 'why' },
    force: { kind: 'flag', short: 'f', help: 'really' },
    ...COMMON_OPTIONS,
  },
  examples: [],
  exitCodes: { [EXIT.ok]: true },
  run: async () => 0,
});

const parse = (line: string, env: NodeJS.ProcessEnv = { SAMPLE_REASON: 'why not' }, command = sample) =>
  parseCommand(command, line.split(' '), env);

function input(line: string, env?: NodeJS.ProcessEnv) {
  const parsed = parse(line, env);
  if (parsed.kind !== 'input') throw new Error('help was asked for');
  return parsed.input;
}

function refusal(line: string, env?: NodeJS.ProcessEnv): string {
  try {
    parse(line, env);
  } catch (error) {
    if (error instanceof UsageError) return `${error.message} | ${error.hint ?? ''}`;
    throw error;
  }
  throw new Error(`${line} was accepted`);
}

describe('a command line', () => {
  it('gives options of each kind, from the line, else the environment, else the default', () => {
    expect(input('a').options).toMatchObject({
      servers: 'here',
      timeout: 10_000,
      tag: [],
      force: false,
      reason: 'why not',
    });
    expect(input('a').options).toHaveProperty('times', undefined);
    expect(input('a', { SAMPLE_SERVERS: 'there', SAMPLE_TIMEOUT: '2m', SAMPLE_REASON: 'x' }).options).toMatchObject({
      servers: 'there',
      timeout: 120_000,
    });
    // Set but empty is how unit files leave a variable out.
    expect(input('a', { SAMPLE_SERVERS: '', SAMPLE_REASON: 'x' }).options).toMatchObject({ servers: 'here' });
    expect(
      input('-s x:1 --timeout=1.5s -f a --times 3 b --tag one --tag two c --mode slow', {
        SAMPLE_SERVERS: 'there',
        SAMPLE_REASON: 'x',
      }),
    ).toMatchObject({
      options: { servers: 'x:1', timeout: 1_500, force: true, times: 3, tag: ['one', 'two'], mode: 'slow' },
      operands: ['a', 'b', 'c'],
    });
  });

  it('is asked for help whatever else it holds', () => {
    expect(parse('--help').kind).toBe('help');
    expect(parse('a -h --times x').kind).toBe('help');
  });

  it.each([
    ['a --servres x', 'sample has no option --servres | did you mean --servers?'],
    ['a --zzz', 'sample has no option --zzz | '],
    ['a --timeout 10', '--timeout "10" must be a number with a unit, such as 500ms, 10s, 5m or 2h | '],
    ['a --timeout -f', '--timeout needs a value | if -f is meant to be its value, write --timeout=-f'],
    ['a --timeout', '--timeout needs a value: --timeout DURATION | '],
    ['a --times -1', '--times needs a value | if -1 is meant to be its value, write --times=-1'],
    ['a --times=-1', '--times "-1" must be a whole number from 0 on | '],
    ['a --mode fats', '--mode "fats" must be one of fast, slow | did you mean fast?'],
    ['a --force=yes', '--force takes no value | '],
    ['a --servers x --servers y', '--servers is given more than once | '],
    ['-f', 'sample needs FIRST: one | '],
  ])('is refused with the fix: %s', (line, message) => {
    expect(refusal(line)).toBe(message);
  });

  it('names the environment variable that is wrong, or that would do', () => {
    expect(refusal('a', { SAMPLE_TIMEOUT: 'soon', SAMPLE_REASON: 'x' })).toContain('SAMPLE_TIMEOUT "soon" must be');
    expect(refusal('a', {})).toBe('--reason TEXT is required, or the environment variable SAMPLE_REASON | ');
  });

  it('leaves what stands behind the first operand to a command that passes it on', () => {
    const specs = sample.options;
    expect(splitAtOperand(specs, ['-s', 'x', '--force', 'ls', '-l', '--', 'y'])).toEqual([
      ['-s', 'x', '--force'],
      ['ls', '-l', '--', 'y'],
    ]);
    expect(splitAtOperand(specs, ['--servers=x', '--', '-l'])).toEqual([['--servers=x'], ['-l']]);
    expect(splitAtOperand(specs, ['-fs', 'x', '-sx', 'cmd'])).toEqual([['-fs', 'x', '-sx'], ['cmd']]);
    expect(splitAtOperand(specs, ['--force'])).toEqual([['--force'], []]);
  });
});

describe('durations', () => {
  it.each([
    ['0', 0],
    ['250ms', 250],
    ['10s', 10_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['30d', 2_592_000_000],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '10', 's', '-1s', '1 s', '1e3s', '10S', '1s2'])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('are shown shortly', () => {
    const shown = [0, 0.1234, 12.345, 999, 1_250, 90_000, 200_000, 8_000_000, 200_000_000, Number.NaN].map(
      showDuration,
    );
    expect(shown).toEqual([
      '0 ms',
      '0.123 ms',
      '12.3 ms',
      '999 ms',
      '1.25 s',
      '90 s',
      '3.33 min',
      '2.22 h',
      '2.31 d',
      'unknown',
    ]);
  });
});

it('suggests the nearest name, and nothing far', () => {
  const names = ['status', 'leader', 'watch', 'rm'];
  expect(['statsu', 'Leader', 'wacth', 'sta', 'xyz', 'r', ''].map((word) => nearest(word, names))).toEqual([
    'status',
    'leader',
    'watch',
    'status',
    undefined,
    'rm',
    undefined,
  ]);
});

describe('text', () => {
  it('of strangers is harmless on a terminal', () => {
    expect(visible('a\u001b[31mb\nc\u202ed\u0007')).toBe('a�[31mb�c�d�');
  });

  it('stands in columns, whatever its colours', () => {
    const { red } = styleFor(true);
    expect(table([['a', 'b'], [red('long'), 'c', ''], ['x']])).toBe('a     b\n\u001b[31mlong\u001b[39m  c\nx');
  });

  it('is wrapped between words', () => {
    expect(wrap('one two three', 7, '  ')).toBe('one two\n  three');
    expect(wrap('averylongword x', 5)).toBe('averylongword\nx');
  });

  it('has colours on a terminal only, unless they are not wanted', () => {
    expect(wantsColour(true, {})).toBe(true);
    expect(wantsColour(false, {})).toBe(false);
    expect(wantsColour(true, { NO_COLOR: '1' })).toBe(false);
    expect(wantsColour(true, { NO_COLOR: '' })).toBe(true);
    expect(wantsColour(true, { TERM: 'dumb' })).toBe(false);
    expect(styleFor(false).bold('x')).toBe('x');
  });
});

describe('a failure', () => {
  it.each([
    [new UsageError('x', 'y'), EXIT.usage, 'USAGE'],
    [new InvalidOptionError('servers', 'x'), EXIT.usage, 'INVALID_OPTION'],
    [new ConnectTimeoutError('x'), EXIT.unreachable, 'CONNECT_TIMEOUT'],
    [new CoordinatorError('no_auth', 'read', '/'), EXIT.denied, 'COORDINATOR'],
    [new CoordinatorError('connection_lost', 'read', '/'), EXIT.unreachable, 'COORDINATOR'],
    [new CoordinatorError('bad_version', 'write', '/'), EXIT.failure, 'COORDINATOR'],
    [new TokenRegressedError('x'), EXIT.failure, 'TOKEN_REGRESSED'],
    [new DOMException('late', 'TimeoutError'), EXIT.timeout, 'TIMEOUT'],
    [Object.assign(new Error('no such file'), { code: 'ENOENT' }), EXIT.failure, 'ENOENT'],
    [new Error('a bug'), EXIT.failure, 'INTERNAL'],
    ['thrown text', EXIT.failure, 'INTERNAL'],
  ])('%s has an exit code and a word', (error, exitCode, code) => {
    expect(failureOf(error)).toMatchObject({ exitCode, code });
  });

  it('stays on one line', () => {
    expect(failureOf(new Error('two\nlines')).message).toBe('two�lines');
  });

  it.each(['EADDRINUSE', 'EADDRNOTAVAIL'])('says what to do about %s', (code) => {
    expect(failureOf(Object.assign(new Error('listen'), { code }))).toMatchObject({
      exitCode: EXIT.failure,
      code,
      hint: expect.stringContaining('give'),
    });
    expect(failureOf(new CommandFailure(125, code, 'listen')).hint).toContain('give');
  });
});

/** An example's words, as a shell would cut them, up to the first pipe or bracket. */
function words(line: string): string[] {
  const command = /tenure .*/.exec(line)?.[0].split(/ [|>)]|;|\)/)[0] ?? '';
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '').slice(1);
}

describe('the table of commands', () => {
  const page = { style: styleFor(false), columns: 80 };

  it('has each name once, and lists them', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(overview(COMMANDS, page)).toContain(`  ${name} `);
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))('%s teaches', (name, command) => {
    const help = commandHelp(command, page);
    expect(command.examples.length).toBeGreaterThan(0);
    expect(command.description.join(' ').length).toBeGreaterThan(50);
    expect(help).toContain(`Usage: tenure ${name}`);
    expect(help).toContain('Exit codes:');
    expect(synopsis(command)).toContain(name);
    expect(command.options).toMatchObject(
      Object.fromEntries(Object.keys(COMMON_OPTIONS).map((option) => [option, expect.anything()])),
    );
    for (const spec of Object.values(command.options)) expect(spec.help).toMatch(/^.{8,}[.…]$/s);
    for (const [code, meaning] of Object.entries(command.exitCodes)) {
      if (meaning === true) expect(EXIT_MEANINGS).toHaveProperty(code);
    }
    for (const line of help.split('\n')) if (!line.startsWith('  ')) expect(line.length).toBeLessThanOrEqual(100);
  });

  it.each(COMMANDS.flatMap(({ examples }) => examples.map(({ line }) => line)))('an example that works: %s', (line) => {
    const all = words(line);
    const command = COMMANDS.filter(({ name }) => `${all.join(' ')} `.startsWith(`${name} `)).sort(
      (a, b) => b.name.length - a.name.length,
    )[0];
    if (command === undefined) throw new Error(`no command in ${line}`);
    const own = all.slice(command.name.split(' ').length);
    expect(parseCommand(command, own, {}).kind).toBe('input');
  });
});
