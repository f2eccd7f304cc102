import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onExit } from '../../../deploy/local/index.js';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `tenure` with these words to its end, in a process of its own that has no terminal. */
export function tenure(servers: string, words: readonly string[]): Promise<Ended> {
  const env = { ...process.env, TENURE_SERVERS: servers, TENURE_BY: 'ada' };
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  const forget = onExit(() => child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  return new Promise((resolve) => {
    child.once('close', (code) => {
      forget();
      resolve({ code: code ?? -1, out, err });
    });
  });
}
