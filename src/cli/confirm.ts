import { createInterface } from 'node:readline/promises';
import type { Context } from './context.js';
import { EXIT } from './exit-codes.js';
import { CommandFailure, UsageError } from './usage-error.js';

/**
 * Asks on the terminal, unless `yes` has answered before.
 *
 * @throws {CommandFailure} where the answer is not yes: then nothing is done
 * @throws {UsageError} where there is nobody to ask
 */
export async function confirm(context: Context, question: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (process.stdin.isTTY !== true || context.json) {
    throw new UsageError(`${question} Nobody can be asked here`, 'say --yes if you mean it');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal: context.signal });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    terminal.close();
  }
  throw new CommandFailure(EXIT.failure, 'NOT_CONFIRMED', 'nothing was done');
}
