import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../../../deploy/local/index.js';

/** A script of this folder as a process of its own, its lines of output to be awaited one after another. */
export interface Child {
  readonly process: ChildProcess;
  line(): Promise<string>;
  /** Resolves once the process stands still by SIGSTOP. */
  frozen(): Promise<unknown>;
  thaw(): void;
  kill(): void;
}

export function startChild(script: string, args: readonly string[]): Child {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${script} ended without another line`);
      return value;
    },
    frozen: () =>
      waitFor(() => / T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8').replace(/\(.*\)/, '')), {
        what: `${script} to freeze`,
        intervalMs: 5,
      }),
    thaw: () => void child.kill('SIGCONT'),
    kill: () => void child.kill('SIGKILL'),
  };
}
