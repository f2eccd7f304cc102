import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { compileSource } from '../../bench/compiled.js';
import { onExit, waitFor } from '../../deploy/local/index.js';

/** The command as users have it: compiled, in a process of its own, which doesn't outlive this one. */
export class Invocation {
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  readonly #child: ChildProcess;
  #out = '';
  #err = '';

  /** Nothing of our own environment that begins with TENURE_ or ZOOKEEPER_ is passed on. */
  constructor(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const main = join(compileSource(), 'cli/main.js');
    const clean = Object.entries(process.env).filter(
      ([name]) => !/^(TENURE|ZOOKEEPER)_|^(NO_COLOR|FORCE_COLOR)$/.test(name),
    );
    const child = spawn(process.execPath, [main, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...Object.fromEntries(clean), ...env },
    });
    this.#child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
    });
    const forget = onExit(() => child.kill('SIGKILL'));
    this.exited = new Promise((resolve) => {
      // When both streams are read to their ends, too.
      child.once('close', (code, signal) => {
        forget();
        resolve(code ?? signal ?? 'unknown');
      });
    });
  }

  get out(): string {
    return this.#out;
  }

  get err(): string {
    return this.#err;
  }

  get lines(): string[] {
    return this.#out.split('\n').slice(0, -1);
  }

  /** Waits until so many lines match. */
  async says(what: RegExp, count = 1, timeoutMs = 60_000): Promise<string[]> {
    return waitFor(
      () => {
        const found = this.lines.filter((line) => what.test(line));
        return found.length >= count && found;
      },
      { what: `${count} × ${what}`, timeoutMs, intervalMs: 10 },
    ).catch((error: Error) => {
      throw new Error(`${error.message}; it said ${JSON.stringify(this.#out)} and ${JSON.stringify(this.#err)}`);
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** What `head` does when it has seen enough. */
  closeOutput(): void {
    this.#child.stdout?.destroy();
  }
}

export interface Ending {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

/** Runs the command to its end. */
export async function invoke(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ending> {
  const invocation = new Invocation(words, env);
  const code = await invocation.exited;
  return { code, out: invocation.out, err: invocation.err };
}
