import { describe, expect, it } from 'vitest';
import { prose } from '../../deploy/docs/prose.js';
import { COMMANDS } from '../../src/cli/commands.js';
import { parseCommand } from '../../src/cli/parse.js';
import { blocks, pages } from './markdown.js';

/** The command lines of `tenure` on a page, with more to them than the command's name: in shell blocks, and in the prose. */
function commandLines(page: { path: string; text: string }): string[] {
  const inBlocks = blocks(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.replaceAll('\\\n', ' ').split('\n'))
    .flatMap((line) => /^(?:if \w+=\$\()?(tenure .*)/.exec(line)?.[1] ?? []);
  const inProse = [...prose(page.text).matchAll(/`(tenure [^`]+)`/g)].map(([, line = '']) =>
    line.replaceAll('\n', ' '),
  );
  return [...inBlocks, ...inProse].filter((line) => !COMMANDS.some(({ name }) => line === `tenure ${name}`));
}

/** The words of one simple command, as a shell would split them: up to a comment, a pipe or the end of a substitution. */
function split(line: string): string[] {
  const words = line.matchAll(/\s*(?:'([^']*)'|"([^"]*)"|(#.*|[|;&)].*)|([^\s'"|;&)]+))/g);
  const found: string[] = [];
  for (const [, single, double, end, plain] of words) {
    if (end !== undefined) break;
    found.push(single ?? double ?? plain ?? '');
  }
  return found;
}

/** @throws where `tenure` would refuse it */
function parse(line: string): void {
  const [, ...words] = split(line);
  const command = COMMANDS.toSorted((a, b) => b.name.length - a.name.length).find(
    ({ name }) => words.slice(0, name.split(' ').length).join(' ') === name,
  );
  if (command === undefined) {
    if (words[0]?.startsWith('-') === true || words[0] === 'COMMAND') return;
    throw new Error(`there is no command ${words[0]}`);
  }
  parseCommand(command, words.slice(command.name.split(' ').length), {});
}

const lines = pages().flatMap((page) => commandLines(page).map((line) => [page.path, line] as const));

describe('Command lines in the documentation', () => {
  it.each(lines)('%s: %s', (_, line) => {
    expect(() => parse(line)).not.toThrow();
  });

  it('are found wrong where they are', () => {
    const page = { path: 'x.md', text: 'So `tenure pause books`.\n\n```sh\ntenure leader books --wat # who?\n```\n' };
    const [leader = '', pause = ''] = commandLines(page);
    expect(() => parse(pause)).toThrow('--reason');
    expect(() => parse(leader)).toThrow('--wat');
    expect(() => parse("tenure pause books --reason 'a # b' | cat")).not.toThrow();
  });
});
