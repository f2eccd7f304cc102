import { VERSION } from '../telemetry/version.js';
import type { Command, Values } from './command.js';
import { COMMANDS } from './commands.js';
import { type Context, Stopped } from './context.js';
import { EXIT, signalExit } from './exit-codes.js';
import { failureOf } from './failure.js';
import { commandHelp, overview } from './help.js';
import { logTo } from './logger.js';
import { nearest } from './nearest.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from './options.js';
import { Output } from './output.js';
import { parseCommand, splitAtOperand } from './parse.js';
import { UsageError } from './usage-error.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs one command line.
 *
 * @param words what follows `tenure` on it
 * @returns the exit code
 */
export async function program(words: readonly string[], process: NodeJS.Process): Promise<number> {
  const stop = new AbortController();
  let broken: NodeJS.ErrnoException | null = null;
  const out = new Output(process.stdout, process.env, (error) => {
    // The reader has gone, as with `| head`: nobody is left to tell, and nothing is wrong.
    if (error.code !== 'EPIPE') broken = error;
    stop.abort(new Stopped(null));
  });
  const err = new Output(process.stderr, process.env, () => {});
  // Known before anything can go wrong, so that errors of the command line come in the form that was asked for.
  const json = beforeOperands(words).includes('--json');
  const { env } = process;
  try {
    const code = await dispatch(words, { env, out, err, json }, stop, process);
    await out.flush();
    if (broken !== null) throw broken;
    return code;
  } catch (error) {
    const { reason } = stop.signal;
    // In good order, because it was told to: what it said on the way is of no interest.
    if (reason instanceof Stopped && broken === null)
      return reason.signal === null ? EXIT.ok : signalExit(reason.signal);
    return report(broken ?? error, err, json, wantsStack(words, env));
  }
}

interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
  readonly err: Output;
  readonly json: boolean;
}

async function dispatch(
  words: readonly string[],
  surroundings: Surroundings,
  stop: AbortController,
  process: NodeJS.Process,
): Promise<number> {
  const { out, env } = surroundings;
  // Common options may stand before the command's name, too.
  const [before, named] = splitAtOperand({ ...COMMON_OPTIONS, ...CONNECTION_OPTIONS }, words);
  const [name, ...after] = twoWords(named);
  if (name === undefined || name === 'help') return general(before, after, out);
  const command = find(name);
  const parsed = parseCommand(command, [...before, ...after], env);
  if (parsed.kind === 'help') {
    out.line(commandHelp(command, out));
    return EXIT.ok;
  }
  // Every command takes the common options.
  const options = parsed.input.options as Values<typeof COMMON_OPTIONS>;
  const level = options.quiet && options['log-level'] === 'warn' ? 'error' : options['log-level'];
  const context: Context = {
    ...surroundings,
    signal: stop.signal,
    logger: logTo(surroundings.err, level, options.json),
    json: options.json,
    quiet: options.quiet,
  };
  const release = command.ownSignals === true ? () => {} : stopOnSignals(stop, process);
  try {
    return await command.run(context, parsed.input);
  } finally {
    release();
  }
}

function general(before: readonly string[], after: readonly string[], out: Output): number {
  if (before.includes('--version') || before.includes('-V')) {
    out.line(VERSION);
    return EXIT.ok;
  }
  const [topic] = twoWords(after);
  if (topic !== undefined) out.line(commandHelp(find(topic), out));
  else if (before.length === 0 || before.includes('--help') || before.includes('-h')) out.line(overview(COMMANDS, out));
  else throw new UsageError(`${before.join(' ')}: no command is given`, 'tenure --help lists the commands');
  return EXIT.ok;
}

/** A command's name may be of two words, such as `fence raise`: they are put together. */
function twoWords(words: readonly string[]): readonly string[] {
  const [first, second, ...rest] = words;
  const both = `${first} ${second}`;
  return second !== undefined && COMMANDS.some(({ name }) => name === both) ? [both, ...rest] : words;
}

function find(name: string): Command {
  const command = COMMANDS.find((each) => each.name === name);
  if (command !== undefined) return command;
  const meant = nearest(
    name,
    COMMANDS.map((each) => each.name),
  );
  throw new UsageError(
    `there is no command ${JSON.stringify(name)}`,
    meant === undefined ? 'tenure --help lists the commands' : `did you mean ${meant}?`,
  );
}

/** The first signal asks it to stop; the second one, of a person who has lost patience, ends it as if nobody listened. */
function stopOnSignals(stop: AbortController, process: NodeJS.Process): () => void {
  const listeners = SIGNALS.map((signal) => {
    const listener = () => {
      release();
      stop.abort(new Stopped(signal));
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  const release = () => {
    for (const remove of listeners) remove();
  };
  return release;
}

function report(error: unknown, err: Output, json: boolean, stack: boolean): number {
  const { exitCode, code, message, hint, retriable } = failureOf(error);
  if (json) {
    err.json({ error: { code, message, retriable, exitCode, ...(hint === undefined ? {} : { hint }) } });
  } else {
    const internal = code === 'INTERNAL' ? ' (this is a bug: please report it, with --log-level debug)' : '';
    err.line(`${err.style.red('tenure:')} ${message}${code === 'USAGE' ? '' : ` [${code}]`}${internal}`);
    if (hint !== undefined) err.line(`        ${hint}`);
  }
  if (stack && error instanceof Error) err.line(error.stack ?? '');
  return exitCode;
}

/** The words that are ours to read: behind `--` stands somebody else's command line. */
function beforeOperands(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return end === -1 ? words : words.slice(0, end);
}

function wantsStack(words: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const own = beforeOperands(words);
  const at = own.indexOf('--log-level');
  const given = at === -1 ? env['TENURE_LOG_LEVEL'] : own[at + 1];
  return own.includes('--log-level=debug') || given === 'debug';
}
