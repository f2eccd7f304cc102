import type { Command, OptionSpec } from './command.js';
import { writeDuration } from './duration.js';
import { EXIT_MEANINGS } from './exit-codes.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from './options.js';
import { placeholderOf } from './parse.js';
import type { Style } from './style.js';
import { table, wrap } from './text.js';

export interface Page {
  readonly style: Style;
  readonly columns: number;
}

/** What `tenure --help` prints. */
export function overview(commands: readonly Command[], { style, columns }: Page): string {
  const rows = commands.map(({ name, summary }) => [`  ${style.bold(name)}`, summary]);
  return [
    'tenure: leader election on Apache ZooKeeper, with fencing tokens',
    '',
    `${style.bold('Usage:')} tenure COMMAND [OPTIONS] …`,
    '',
    style.bold('Commands:'),
    table(rows),
    '',
    style.bold('To begin:'),
    '  export TENURE_SERVERS=zk1:2181,zk2:2181,zk3:2181',
    '  tenure doctor                    is everything as it should be?',
    '  tenure status                    who leads what?',
    '',
    wrap(
      'tenure COMMAND --help explains a command, with examples and exit codes; tenure --version prints the version. ' +
        'The manual is docs/cli.md.',
      columns,
    ),
  ].join('\n');
}

/** What `tenure COMMAND --help` prints. */
export function commandHelp(command: Command, { style, columns }: Page): string {
  const own: [string, OptionSpec][] = [];
  const shared: [string, OptionSpec][] = [];
  for (const [name, spec] of Object.entries(command.options)) {
    (name in COMMON_OPTIONS || name in CONNECTION_OPTIONS ? shared : own).push([name, spec]);
  }
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', style.bold(`${title}:`), ...lines];
  const operands = (command.operands ?? []).map(({ name, help }) => item(name, help, style, columns));
  const codes = Object.entries(command.exitCodes).map(([code, meaning]) => [
    `  ${code}`,
    meaning === true ? (EXIT_MEANINGS[Number(code)] ?? '') : meaning,
  ]);
  return [
    `tenure ${command.name}: ${command.summary}`,
    '',
    `${style.bold('Usage:')} ${synopsis(command)}`,
    ...command.description.flatMap((paragraph) => ['', wrap(paragraph, columns)]),
    ...section('Operands', operands),
    ...section('Options', own.map(option(style, columns))),
    ...section('Common options', shared.map(option(style, columns))),
    ...section(
      'Examples',
      command.examples.flatMap(({ what, line }) => [`  # ${what}`, `  ${style.cyan(line)}`]),
    ),
    ...section('Exit codes', codes.length === 0 ? [] : [table(codes)]),
  ].join('\n');
}

export function synopsis(command: Command): string {
  const operands = (command.operands ?? []).map(({ name, required, repeated }) => {
    const shown = repeated === true ? `${name}…` : name;
    return required === true ? shown : `[${shown}]`;
  });
  const needed = Object.entries(command.options)
    .filter(([, spec]) => spec.required === true)
    .map(([name, spec]) => `--${name} ${placeholderOf(spec)}`);
  const rest = command.passthrough === undefined ? [] : ['[--]', command.passthrough];
  return ['tenure', command.name, ...needed, '[OPTIONS]', ...operands, ...rest].join(' ');
}

function option(style: Style, columns: number): (entry: [string, OptionSpec]) => string {
  return ([name, spec]) => item(optionTitle(name, spec), [spec.help, ...optionNotes(spec)].join(' '), style, columns);
}

/** As it is written on a command line: `-s, --servers LIST`. */
export function optionTitle(name: string, spec: OptionSpec): string {
  const short = spec.short === undefined ? '' : `-${spec.short}, `;
  return `${short}--${name}${spec.kind === 'flag' ? '' : ` ${placeholderOf(spec)}`}`;
}

/** What is to be said of an option besides its help, each a sentence. */
export function optionNotes(spec: OptionSpec): string[] {
  return [
    spec.choices === undefined ? '' : `One of ${spec.choices.join(', ')}.`,
    spec.default === undefined ? '' : `Default ${shownDefault(spec)}.`,
    spec.env === undefined ? '' : `Environment: ${spec.env}.`,
    spec.multiple === true ? 'May be given several times.' : '',
  ].filter((note) => note !== '');
}

function shownDefault(spec: OptionSpec): string {
  return spec.kind === 'duration' ? writeDuration(Number(spec.default)) : String(spec.default);
}

function item(title: string, text: string, style: Style, columns: number): string {
  const indent = ' '.repeat(6);
  const body = wrap(text, columns - indent.length).replaceAll('\n', `\n${indent}`);
  return `  ${style.bold(title)}\n${indent}${body}`;
}
