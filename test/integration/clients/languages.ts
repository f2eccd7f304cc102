import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goEnvironment, goProgram, javaClasses } from '../../../deploy/local/toolchains/index.js';
import { findTool, type Tool } from '../../support/tools.js';

const clients = resolve(fileURLToPath(import.meta.url), '../../../../clients');
export const vectors = resolve(clients, '../test/vectors');

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A client, by its language: what its tests take, its own tests, and the worker that is killed and frozen. */
export interface Language {
  readonly name: 'Python' | 'Go' | 'Java';
  readonly tools: readonly Tool[];
  /** Whether it speaks through Unix sockets. */
  readonly sockets: boolean;
  ownTests(): Promise<Command>;
  /** Its last argument is yet to come. */
  worker(): Promise<Command>;
}

function tool(name: Tool): string {
  const path = findTool(name);
  if (path === undefined) throw new Error(`no ${name} found`);
  return path;
}

export const python: Language = {
  name: 'Python',
  tools: ['python3'],
  sockets: true,
  ownTests: async () => ({ file: tool('python3'), args: ['-m', 'unittest', '-v'], cwd: join(clients, 'python') }),
  worker: async () => ({ file: tool('python3'), args: ['tests/worker.py'], cwd: join(clients, 'python') }),
};

export const go: Language = {
  name: 'Go',
  tools: ['go'],
  sockets: true,
  ownTests: async () => ({
    file: tool('go'),
    args: ['test', '-count=1', './...'],
    cwd: join(clients, 'go'),
    env: goEnvironment(),
  }),
  worker: async () => ({ file: await goProgram(join(clients, 'go/internal/worker')), args: [], cwd: clients }),
};

const javaPath = () => javaClasses([join(clients, 'java/src/main/java'), join(clients, 'java/src/test/java')]);

export const java: Language = {
  name: 'Java',
  tools: ['javac'],
  sockets: false,
  ownTests: async () => ({
    file: 'java',
    args: ['-cp', await javaPath(), 'tenure.client.Tests', vectors],
    cwd: clients,
  }),
  worker: async () => ({
    file: 'java',
    args: ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', await javaPath(), 'tenure.client.Worker'],
    cwd: clients,
  }),
};
