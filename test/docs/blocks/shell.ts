import { spawn } from 'node:child_process';
import { onExit } from '../../../deploy/local/index.js';

export interface ShellOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Goes on until it says this, on either stream, and is told to stop (TERM, to all its processes) then. */
  readonly until?: RegExp;
  readonly timeoutMs?: number;
}

export interface Ended {
  /** -1 where it was told to stop, or killed. */
  readonly code: number;
  readonly out: string;
  /** Standard output and error. */
  readonly all: string;
}

/** Runs a script by bash, with `-euo pipefail`, to its end; what it leaves in the background ends with it. @throws where it takes too long */
export function shell(script: string, { cwd, env, until, timeoutMs = 100_000 }: ShellOptions): Promise<Ended> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), name);
    } catch {
      // All of them have ended.
    }
  };
  const forget = onExit(() => signal('SIGKILL'));
  let out = '';
  let all = '';
  let heard = false;
  const hear = (text: string) => {
    all += text;
    if (heard || until === undefined || !until.test(all)) return;
    heard = true;
    signal('SIGTERM');
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    hear(text);
  });
  child.stderr.setEncoding('utf8').on('data', hear);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal('SIGKILL');
      reject(new Error(`not over after ${timeoutMs} ms:\n${script}\nit said:\n${all}`));
    }, timeoutMs);
    child.once('error', reject);
    // Its own end: what it has left in the background may hold the streams open.
    child.once('exit', () => setTimeout(signal, 200, 'SIGKILL'));
    child.once('close', (code) => {
      clearTimeout(timer);
      forget();
      if (until !== undefined && !heard) reject(new Error(`it has ended without ${until}: code ${code}\n${all}`));
      else resolve({ code: code ?? -1, out, all });
    });
  });
}
