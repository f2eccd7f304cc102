import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compileSource } from '../../../bench/compiled.js';
import { onExit, waitFor } from '../../../deploy/local/index.js';
import { goEnvironment, goProgram, javaClasses, pythonWith } from '../../../deploy/local/toolchains/index.js';
import type { Tool } from '../../support/tools.js';

const project = resolve(fileURLToPath(import.meta.url), '../../../..');
const examples = join(project, 'examples');

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** One of the examples: how to start a worker, and one write with a token of one's choice. */
export interface Example {
  readonly name: string;
  readonly tools: readonly Tool[];
  /** Whether it is over when its term is; others stand in the queue again. */
  readonly endsWithItsTerm: boolean;
  worker(election: string, id: string): Promise<Command>;
  write(): Promise<Command>;
}

const pythonFile = async (name: string): Promise<Command> => ({
  file: await pythonWith(join(examples, 'python/requirements.txt')),
  args: [join(examples, 'python', name)],
});
const goFolder = async (name: string): Promise<Command> => ({
  file: await goProgram(join(examples, 'go', name)),
  args: [],
});
const javaClass = async (name: string): Promise<Command> => {
  const sources = [join(project, 'clients/java/src/main/java'), join(examples, 'java/src/main/java')];
  const path = await javaClasses(sources, join(examples, 'java/pom.xml'));
  return { file: 'java', args: ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', path, `example.${name}`] };
};
const script = (name: string): Command => ({ file: join(examples, 'bash', name), args: [] });

const python = { tools: ['python3'], write: () => pythonFile('ledger.py') } as const;
const go = { tools: ['go'], write: () => goFolder('write') } as const;
const java = { tools: ['javac', 'mvn'], write: () => javaClass('Ledger') } as const;
const bash = { tools: ['curl', 'jq', 'psql'], write: async () => script('ledger.sh') } as const;

export const EXAMPLES: readonly Example[] = [
  { ...python, name: 'Python with kazoo', endsWithItsTerm: true, worker: () => pythonFile('native.py') },
  { ...python, name: 'Python by the sidecar', endsWithItsTerm: false, worker: () => pythonFile('sidecar.py') },
  { ...go, name: 'Go with go-zookeeper', endsWithItsTerm: true, worker: () => goFolder('native') },
  { ...go, name: 'Go by the sidecar', endsWithItsTerm: false, worker: () => goFolder('sidecar') },
  { ...java, name: 'Java with Curator', endsWithItsTerm: true, worker: () => javaClass('Natively') },
  { ...java, name: 'Java by the sidecar', endsWithItsTerm: false, worker: () => javaClass('BySidecar') },
  { ...bash, name: 'bash by the sidecar', endsWithItsTerm: false, worker: async () => script('sidecar.sh') },
];

/** A shell's worker under `tenure run`, which ends it by itself where others have to notice. */
export const WRAPPED: Example = {
  ...bash,
  name: 'bash by tenure run',
  endsWithItsTerm: true,
  worker: async (election, id) => ({
    file: process.execPath,
    args: [
      ...[join(compileSource(), 'cli/main.js'), 'run', '--election', election, '--id', id],
      ...['--session-timeout', '4s', '--', script('run.sh').file],
    ],
  }),
};

/** A program in a process group of its own: frozen and killed with its children. */
export class Program implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  #log = '';
  #gone = false;

  constructor({ file, args }: Command, more: readonly string[], env: NodeJS.ProcessEnv) {
    const child = spawn(file, [...args, ...more], {
      cwd: project,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...goEnvironment(), ...env },
    });
    this.#child = child;
    child.stderr.on('data', (text) => {
      this.#log += text;
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.lines.push(line));
    const forget = onExit(() => this.signal('SIGKILL'));
    this.exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        this.#gone = true;
        forget();
        resolve(code);
      });
    });
  }

  /** The first line like this, after so many lines. */
  async until(like: RegExp, from = 0, timeoutMs = 60_000): Promise<RegExpExecArray> {
    return waitFor(
      () => {
        for (const line of this.lines.slice(from)) {
          const found = like.exec(line);
          if (found !== null) return found;
        }
        if (this.#gone) throw new Error(`it has ended without ${like}: ${this.text}`);
        return undefined;
      },
      { what: `a program to say ${like}`, timeoutMs, intervalMs: 10 },
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.text}`);
    });
  }

  get text(): string {
    return `${this.lines.slice(-10).join('\n')}\n${this.#log}`;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#gone || this.#child.pid === undefined) return;
    process.kill(-this.#child.pid, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }
}
