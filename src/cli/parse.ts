import { parseArgs } from 'node:util';
import type { Command, Input, OptionSpec, OptionSpecs } from './command.js';
import { parseDuration } from './duration.js';
import { nearest } from './nearest.js';
import { UsageError } from './usage-error.js';

/** What stands on the command line. `help`: `--help` is among it, and nothing else counts. */
export type Parsed = { readonly kind: 'help' } | { readonly kind: 'input'; readonly input: Input<OptionSpecs> };

/**
 * Reads the words after the command's name.
 *
 * @throws {UsageError} naming the word at fault and the fix
 */
export function parseCommand(command: Command, words: readonly string[], env: NodeJS.ProcessEnv): Parsed {
  const specs = command.options;
  const [own, rest] = command.passthrough === undefined ? [words, []] : splitAtOperand(specs, words);
  const { tokens } = parseArgs({
    args: [...own],
    options: parserOptions(specs),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind !== 'option') continue;
    const spec = specs[token.name];
    if (spec === undefined) throw unknownOption(command, token.rawName);
    if (spec.kind === 'flag' && token.value !== undefined) throw new UsageError(`--${token.name} takes no value`);
    if (spec.kind !== 'flag') checkGiven(token.name, spec, token.value, token.inlineValue === true);
    const before = given.get(token.name) ?? [];
    if (before.length > 0 && spec.kind !== 'flag' && spec.multiple !== true) {
      throw new UsageError(`--${token.name} is given more than once`);
    }
    given.set(token.name, [...before, token.value ?? '']);
  }
  if (given.has('help')) return { kind: 'help' };
  checkOperands(command, operands);
  const options = Object.entries(specs).map(([name, spec]) => [name, settled(name, spec, given.get(name), env)]);
  return { kind: 'input', input: { options: Object.fromEntries(options), operands, rest } };
}

/** Splits before the first word that is neither an option nor an option's value; at `--`, which is left out. */
export function splitAtOperand(specs: OptionSpecs, words: readonly string[]): [string[], string[]] {
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? '';
    if (word === '--') return [words.slice(0, i), words.slice(i + 1)];
    if (!word.startsWith('-') || word === '-') return [words.slice(0, i), words.slice(i)];
    if (takesNext(specs, word)) i += 1;
  }
  return [[...words], []];
}

/** Whether the word after this option is its value. */
function takesNext(specs: OptionSpecs, word: string): boolean {
  if (word.startsWith('--')) return !word.includes('=') && isValued(specs[word.slice(2)]);
  // The first letter of a group that takes a value takes the rest of the word, or else the next one.
  const valued = [...word.slice(1)].map((letter) =>
    isValued(Object.values(specs).find(({ short }) => short === letter)),
  );
  return valued.length > 0 && valued.indexOf(true) === valued.length - 1;
}

const isValued = (spec: OptionSpec | undefined): boolean => spec !== undefined && spec.kind !== 'flag';

function parserOptions(specs: OptionSpecs): Record<string, { type: 'string' | 'boolean'; short?: string }> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { kind, short }]) => [
      name,
      { type: kind === 'flag' ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) } as const,
    ]),
  );
}

function unknownOption(command: Command, rawName: string): UsageError {
  const meant = rawName.startsWith('--') ? nearest(rawName.slice(2), Object.keys(command.options)) : undefined;
  return new UsageError(
    `${command.name} has no option ${rawName}`,
    meant === undefined ? undefined : `did you mean --${meant}?`,
  );
}

function checkGiven(name: string, spec: OptionSpec, value: string | undefined, inline: boolean): void {
  if (value === undefined) throw new UsageError(`--${name} needs a value: --${name} ${placeholderOf(spec)}`);
  if (inline || !/^-./.test(value)) return;
  throw new UsageError(`--${name} needs a value`, `if ${value} is meant to be its value, write --${name}=${value}`);
}

function checkOperands(command: Command, operands: readonly string[]): void {
  const known = command.operands ?? [];
  const missing = known[operands.length];
  if (missing?.required === true) throw new UsageError(`${command.name} needs ${missing.name}: ${missing.help}`);
  const extra = operands[known.length];
  if (extra !== undefined && known.at(-1)?.repeated !== true)
    throw new UsageError(`${command.name} can't do anything with ${JSON.stringify(extra)}`);
}

function settled(name: string, spec: OptionSpec, given: string[] | undefined, env: NodeJS.ProcessEnv): unknown {
  if (spec.kind === 'flag') return given !== undefined;
  if (spec.multiple === true) return (given ?? []).map((text) => convert(`--${name}`, spec, text));
  if (given !== undefined) return convert(`--${name}`, spec, given[0] ?? '');
  const variable = spec.env === undefined ? undefined : env[spec.env];
  // Set but empty is how compose files and unit files leave a variable out.
  if (variable !== undefined && variable !== '') return convert(spec.env ?? '', spec, variable);
  if (spec.default === undefined && spec.required === true) {
    const instead = spec.env === undefined ? '' : `, or the environment variable ${spec.env}`;
    throw new UsageError(`--${name} ${placeholderOf(spec)} is required${instead}`);
  }
  return spec.default;
}

function convert(source: string, spec: OptionSpec, text: string): string | number {
  if (spec.choices !== undefined && !spec.choices.includes(text)) {
    const meant = nearest(text, spec.choices);
    throw new UsageError(
      `${source} ${JSON.stringify(text)} must be one of ${spec.choices.join(', ')}`,
      meant === undefined ? undefined : `did you mean ${meant}?`,
    );
  }
  if (spec.kind === 'duration') {
    const ms = parseDuration(text);
    if (ms !== undefined) return ms;
    throw new UsageError(
      `${source} ${JSON.stringify(text)} must be a number with a unit, such as 500ms, 10s, 5m or 2h`,
    );
  }
  if (spec.kind === 'count') {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new UsageError(`${source} ${JSON.stringify(text)} must be a whole number from 0 on`);
  }
  return text;
}

export function placeholderOf(spec: OptionSpec): string {
  return spec.placeholder ?? { flag: '', text: 'TEXT', duration: 'DURATION', count: 'N' }[spec.kind];
}
