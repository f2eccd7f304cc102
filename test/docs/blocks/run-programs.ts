import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onExit } from '../../../deploy/local/index.js';
import { goProgram, javaClasses, pythonWith } from '../../../deploy/local/toolchains/index.js';
import type { Command } from '../../integration/clients/languages.js';
import type { Tool } from '../../support/tools.js';
import { project } from '../markdown.js';
import { type Claimed, claimedBy } from './claims.js';
import type { Place } from './world.js';

interface Language {
  readonly tool: Tool;
  make(code: string, place: Place): Promise<Command>;
}

async function python(code: string, { folder }: Place): Promise<Command> {
  const file = join(folder, 'page.py');
  writeFileSync(file, code);
  const env = { PYTHONPATH: join(project, 'clients/python') };
  return { file: await pythonWith(join(project, 'examples/python/requirements.txt')), args: [file], cwd: folder, env };
}

async function go(code: string, { folder }: Place): Promise<Command> {
  writeFileSync(join(folder, 'main.go'), code);
  const client = join(project, 'clients/go');
  const lines = [
    'module page',
    'go 1.21',
    'require tenure/clients/go v0.0.0',
    `replace tenure/clients/go => ${client}`,
  ];
  writeFileSync(join(folder, 'go.mod'), `${lines.join('\n')}\n`);
  return { file: await goProgram(folder), args: [], cwd: folder };
}

async function java(code: string, { folder }: Place): Promise<Command> {
  const sources = join(folder, 'java');
  mkdirSync(sources, { recursive: true });
  writeFileSync(join(sources, 'Worker.java'), code);
  const path = await javaClasses([sources, join(project, 'clients/java/src/main/java')]);
  const quick = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
  return { file: 'java', args: [...quick, '-cp', path, 'Worker'], cwd: folder };
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  python: { tool: 'python3', make: python },
  go: { tool: 'go', make: go },
  java: { tool: 'javac', make: java },
};

export const programsOfOthers = claimedBy('run', Object.keys(LANGUAGES));

export const toolOf = (language: string): Tool => LANGUAGES[language]?.tool as Tool;

/** Runs a program until it has done its work under a token. @returns what it said; it is killed at that line */
export async function runProgramOf(place: Place, { block, claim }: Claimed<'run'>): Promise<string> {
  const code = `${claim.behind}\n${place.translate(block.code)}`;
  const made = await LANGUAGES[block.language]?.make(code, place);
  if (made === undefined) throw new Error(`no language of ours: ${block.language}`);
  const { file, args, cwd, env } = made;
  const child = spawn(file, [...args], { cwd, env: { ...place.env, ...env } });
  const forget = onExit(() => child.kill('SIGKILL'));
  const gone = new Promise((resolve) => child.once('close', resolve));
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      log += `${line}\n`;
      if (/settles with token/.test(line)) child.kill('SIGKILL');
    });
  }
  await gone;
  forget();
  return log;
}
