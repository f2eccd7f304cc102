import processes, { type ChildProcess } from 'node:child_process';
import { readdirSync, readlinkSync, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { monotonicMs } from '../../src/verify/monotonic.js';
import type { MortalOptions } from './mortals.js';
import { report } from './report.js';

/*
 * A worker that leads one term by hand, reports it, and then does what it is told through its standard input: `throw`, `abort`,
 * `exit`, `spin` (its loop never turns again), `fork` (children all the time), `inherit` (a child that outlives it, with all of
 * its sockets), `unplug` (the pipe to its helper ends), `close`.
 */
const {
  servers,
  election,
  id,
  sessionTimeoutMs,
  lifeline,
  more,
  spins = false,
  module = '../../src/index.js',
} = JSON.parse(process.argv[2] ?? '') as MortalOptions;

// The helper that is started for us, to take its pipe away.
let helper: ChildProcess | undefined;
const { spawn } = processes;
processes.spawn = ((...parameters: Parameters<typeof spawn>) => {
  helper = spawn(...parameters);
  return helper;
}) as typeof spawn;
syncBuiltinESMExports();

const { connect } = (await import(module)) as typeof import('../../src/index.js');
const tenure = await connect({ servers, sessionTimeoutMs, lifeline, ...more });
const term = await tenure.election(election, { id }).campaign();
const said = { term: term.number, token: term.token.toString() };
if (spins) {
  // By a call of the system: nothing that waits for the loop is written any more.
  writeSync(1, `${JSON.stringify({ event: 'began', at: monotonicMs(), ...said })}\n`);
  for (;;);
}
report({ event: 'began', at: monotonicMs(), ...said });
term.signal.addEventListener('abort', () => {
  report({ event: 'ended', at: monotonicMs(), ...said, why: String(term.signal.reason) });
});

function isSocket(descriptor: number): boolean {
  try {
    return descriptor > 2 && readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('socket:');
  } catch {
    // That of the listing itself.
    return false;
  }
}

const ACTS: Record<string, () => void> = {
  throw: () => {
    throw new Error('nobody catches this');
  },
  abort: () => process.abort(),
  exit: () => process.exit(3),
  spin: () => {
    for (;;);
  },
  fork: () => {
    setInterval(() => spawn('true', { stdio: 'ignore' }).unref(), 2);
  },
  inherit: () => {
    const sockets = readdirSync('/proc/self/fd').map(Number).filter(isSocket);
    const child = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'ignore', ...sockets], detached: true });
    process.stdout.write(`${JSON.stringify({ event: 'inherited', pid: child.pid })}\n`);
  },
  unplug: () => void helper?.stdin?.destroy(),
  close: () => void tenure.close(),
};

process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => ACTS[text.trim()]?.());
