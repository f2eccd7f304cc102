import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FAKETIME } from './faketime.js';

/** What a run needs of the machine, or why it can't be had here. */
export function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'chaos needs root: it makes network namespaces';
  for (const command of ['unshare', 'nsenter', 'setpriv', 'ip', 'nft']) {
    if (spawnSync('sh', ['-c', `command -v ${command}`]).status !== 0) {
      return `${command} is missing: install util-linux, iproute2 and nftables`;
    }
  }
  if (FAKETIME === undefined) return 'libfaketime is missing: install faketime';
  return undefined;
}

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Runs run.ts in namespaces of its own, which end with it. */
export function runChaos(args: readonly string[], echo = false): Promise<Outcome> {
  const script = fileURLToPath(new URL('./run.ts', import.meta.url));
  const words = ['--pdeathsig', 'KILL', 'unshare', '-nm', process.execPath, '--import', 'tsx', script, ...args];
  const child = spawn('setpriv', words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      if (echo) process.stderr.write(chunk);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      only: { type: 'string' },
      servers: { type: 'string', default: '3' },
      driver: { type: 'string' },
      out: { type: 'string', default: '.cache/chaos' },
    },
  });
  const why = obstacle();
  if (why !== undefined) {
    console.error(why);
    process.exit(2);
  }
  let failed = false;
  for (let i = 0; i < Number(values.seeds); i++) {
    const seed = Number(values.seed) + i;
    const args = ['--seconds', `${Number(values.minutes) * 60}`, '--seed', `${seed}`, '--servers', values.servers];
    args.push('--out', values.out, ...(values.only === undefined ? [] : ['--only', values.only]));
    if (values.driver !== undefined) args.push('--driver', values.driver);
    const { code } = await runChaos(args, true);
    failed ||= code !== 0;
  }
  process.exit(failed ? 1 : 0);
}
