import type { Context } from './context.js';

/** One option of a command. The key in {@link OptionSpecs} is its name, without the two dashes. */
export interface OptionSpec {
  /** `duration` is text with a unit (`10s`) and gives milliseconds; `count` a whole number from 0 on. */
  readonly kind: 'flag' | 'text' | 'duration' | 'count';
  /** One sentence or two, for `--help`. */
  readonly help: string;
  /** What stands for the value in `--help`; by default what the kind suggests. */
  readonly placeholder?: string;
  /** One letter. */
  readonly short?: string;
  /** The environment variable that gives it where the command line doesn't. Flags have none. */
  readonly env?: string;
  /** In milliseconds where it is a duration. */
  readonly default?: string | number;
  readonly choices?: readonly string[];
  /** May be given several times; the value is a list. */
  readonly multiple?: true;
  /** There is no default, and it can't be left out. */
  readonly required?: true;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

type Scalar<S extends OptionSpec> = S extends { readonly choices: readonly (infer C)[] }
  ? C
  : S extends { readonly kind: 'text' }
    ? string
    : number;

type ValueOf<S extends OptionSpec> = S extends { readonly kind: 'flag' }
  ? boolean
  : S extends { readonly multiple: true }
    ? readonly Scalar<S>[]
    : S extends { readonly default: string | number } | { readonly required: true }
      ? Scalar<S>
      : Scalar<S> | undefined;

/** What the command line and the environment say, complete and of the right kinds. */
export type Values<O extends OptionSpecs> = { readonly [K in keyof O]: ValueOf<O[K]> };

/** Something that stands on the command line without a name. */
export interface Operand {
  /** In capitals, as `--help` shows it. */
  readonly name: string;
  readonly help: string;
  readonly required?: true;
  /** The last one only: any number of them. */
  readonly repeated?: true;
}

export interface Input<O extends OptionSpecs> {
  readonly options: Values<O>;
  /** As {@link Command.operands} allows. */
  readonly operands: readonly string[];
  /** What follows the options, for a command with {@link Command.passthrough}. */
  readonly rest: readonly string[];
}

export interface Example {
  readonly what: string;
  readonly line: string;
}

/** One command: what `--help` says of it, and what it does. */
export interface Command<O extends OptionSpecs = OptionSpecs> {
  readonly name: string;
  /** Half a line, for the list of commands. */
  readonly summary: string;
  /** Paragraphs: what it is for, and what to know before using it. */
  readonly description: readonly string[];
  readonly operands?: readonly Operand[];
  /** All that it takes; spread in the groups of options.ts. */
  readonly options: O;
  readonly examples: readonly Example[];
  /** The codes that it ends with, and what they mean where that isn't as in exit-codes.ts. */
  readonly exitCodes: Readonly<Record<number, string | true>>;
  /** What the words after its options are called: they go to the command unread, even when they begin with a dash. */
  readonly passthrough?: string;
  /** It deals with INT, TERM and HUP by itself, so `context.signal` is aborted by none of them. */
  readonly ownSignals?: true;
  /** @returns the exit code. What it throws is printed as one line and mapped to a code. */
  run(context: Context, input: Input<O>): Promise<number>;
}

/** Gives the options of `run` their types, then forgets them: the table holds commands of all kinds. */
export function defineCommand<const O extends OptionSpecs>(command: Command<O>): Command {
  return command as unknown as Command;
}
