import { InvalidOptionError } from '../errors.js';
import type { RedisArgument } from './redis-client.js';

/** Marks an argument as the name of a key, where it is not a command's first argument. */
export class RedisKey {
  /** The key's whole name. */
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** One command: its name, and its arguments. The first argument is a key; mark others with {@link RedisKey}. */
export type RedisCommand = readonly [name: string, ...args: (RedisArgument | RedisKey)[]];

/** How many words Redis's Lua can hand to a command, its name among them; with some to spare for what else is on Lua's stack. */
const MAX_WORDS = 7_900;

/**
 * The commands as the script wants them. What can't be a command is refused here: at the server it would end the script in its midst, with what came
 * before it done.
 *
 * @throws {InvalidOptionError}
 */
export function packed(commands: readonly RedisCommand[]): { keys: string[]; args: RedisArgument[] } {
  const keys: string[] = [];
  const args: RedisArgument[] = [commands.length];
  for (const [position, words] of commands.entries()) {
    checkCommand(words, position);
    const places: number[] = [];
    for (const [index, word] of words.entries()) {
      if (!(word instanceof RedisKey) && index !== 1) continue;
      places.push(index + 1);
      keys.push(word instanceof RedisKey ? word.name : String(word));
    }
    args.push(words.length, places.length, ...places);
    for (const word of words) args.push(word instanceof RedisKey ? '' : word);
  }
  return { keys, args };
}

function checkCommand(words: RedisCommand, position: number): void {
  const which = `command ${position}`;
  if (!Array.isArray(words) || typeof words[0] !== 'string' || words[0] === '')
    throw new InvalidOptionError('commands', `${which} must be a list that begins with the command's name`);
  if (words.length > MAX_WORDS) {
    throw new InvalidOptionError(
      'commands',
      `${which}, ${words[0]}, has ${words.length} words, and a script's command can have ${MAX_WORDS}: split it`,
    );
  }
  for (const [index, word] of words.entries()) {
    const checked: unknown = word instanceof RedisKey ? word.name : word;
    if (word instanceof RedisKey ? typeof checked === 'string' : isArgument(checked)) continue;
    throw new InvalidOptionError('commands', `word ${index} of ${which}, ${words[0]}, ${rule(checked)}`);
  }
}

/** @throws {InvalidOptionError} */
export function checkArguments(args: readonly unknown[]): void {
  for (const [index, each] of args.entries())
    if (!isArgument(each)) throw new InvalidOptionError('args', `argument ${index} of the script ${rule(each)}`);
}

/** @throws {InvalidOptionError} */
export function checkKeys(keys: readonly unknown[]): void {
  for (const [index, each] of keys.entries())
    if (typeof each !== 'string') throw new InvalidOptionError('keys', `key ${index} of the script must be text`);
}

function isArgument(value: unknown): value is RedisArgument {
  return (
    typeof value === 'string' ||
    (typeof value === 'number' && !Number.isNaN(value)) ||
    typeof value === 'bigint' ||
    value instanceof Uint8Array
  );
}

/** As text these would be `undefined`, `null` or `[object Object]`, and be written. */
function rule(value: unknown): string {
  const what = value === null ? 'null' : Number.isNaN(value) ? 'NaN' : typeof value;
  return `must be text, a number, a bigint or bytes, not ${what}`;
}
