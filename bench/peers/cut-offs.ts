import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Contender, ContenderName } from './contenders.js';
import { inTurn, Samples } from './figures.js';

const namespaces = process.getuid?.() === 0 ? ['-nm'] : ['-Urnm'];

/** Why no server can be cut off here; undefined where one can. */
export function noNamespaces(): string | undefined {
  const tried = spawnSync('unshare', [...namespaces, 'ip', 'link', 'set', 'lo', 'up']);
  return tried.status === 0 ? undefined : "network namespaces can't be had here";
}

export type ServerRole = 'leads' | 'follows';

interface Outcome {
  readonly serverLeads: boolean;
  readonly limitMs: number;
  readonly outcomes: readonly {
    readonly name: ContenderName;
    readonly lost: number | null;
    readonly led: number | null;
  }[];
}

export interface CutOffs {
  /** Milliseconds in which both believe; negative is the time in which nobody does. */
  readonly overlap: Samples;
  /** From the cut to the old leader's being told. */
  readonly lost: Samples;
  /** From the cut to the successor's saying that it leads. */
  readonly led: Samples;
}

function once(role: ServerRole, timeoutMs: number, tickTime: number, names: readonly string[]): Promise<Outcome> {
  const script = fileURLToPath(new URL('./programs/cut-off.ts', import.meta.url));
  const program = [
    process.execPath,
    '--import',
    'tsx',
    script,
    role,
    String(timeoutMs),
    String(tickTime),
    names.join(),
  ];
  // The kernel ends it with us, and all that it started ends with it.
  const words = ['--pdeathsig', 'KILL', 'unshare', ...namespaces, ...program];
  const child = spawn('setpriv', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as Outcome);
      else reject(new Error(`the run with a server that is cut off ended with ${code}`));
    });
  });
}

/** The leader's server is cut off together with the leader: each round has servers and namespaces of its own. */
export async function cutOffs(
  all: readonly Contender[],
  role: ServerRole,
  options: { readonly rounds: number; readonly timeoutMs: number; readonly tickTime: number },
  say: (line: string) => void,
): Promise<CutOffs> {
  const result: CutOffs = { overlap: new Samples(), lost: new Samples(), led: new Samples() };
  for (let round = 0; round < options.rounds; round++) {
    say(`server cut off that ${role}, round ${round + 1} of ${options.rounds}`);
    const names = inTurn(all, round).map(({ name }) => name);
    const { serverLeads, limitMs, outcomes } = await once(role, options.timeoutMs, options.tickTime, names);
    if (serverLeads !== (role === 'leads')) throw new Error(`the server that was cut off should be one that ${role}`);
    for (const { name, lost, led } of outcomes) {
      if (led === null) throw new Error(`nobody succeeded the leader of ${name} within ${limitMs} ms`);
      result.led.add(name, led);
      result.lost.add(name, lost ?? Number.POSITIVE_INFINITY);
      result.overlap.add(name, (lost ?? Number.POSITIVE_INFINITY) - led);
    }
  }
  return result;
}
