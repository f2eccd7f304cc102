import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contenders, lacking } from '../../bench/peers/contenders.js';
import { noNamespaces } from '../../bench/peers/cut-offs.js';

/*
 * That the benchmark's parts run, with one round of each, on quick servers with small crowds. What it measures here means little: two
 * things are held to, which no busy machine changes.
 */
const ALL = ['tenure', 'curator', 'kazoo', 'go', 'etcd'];

type Samples = Readonly<Record<string, readonly (number | null)[]>>;

const directory = mkdtempSync(join(tmpdir(), 'tenure-peers-'));
const skip = lacking !== undefined && !process.env['TENURE_REQUIRE_ALL'];
const title = lacking === undefined ? 'the bench beside its peers' : `the bench beside its peers: ${lacking}`;

async function bench<Result>(...more: string[]): Promise<Result> {
  const json = join(directory, `${more.join('').replaceAll(/[^a-z]/g, '-')}.json`);
  const script = fileURLToPath(new URL('../../bench/peers.ts', import.meta.url));
  const words = ['--pdeathsig', 'KILL', process.execPath, '--import', 'tsx', script, '--quick', '--rounds', '1'];
  const child = spawn('setpriv', [...words, '--json', json, ...more], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`it ended with ${code}: ${said}`);
  return JSON.parse(readFileSync(json, 'utf8')) as Result;
}

describe.skipIf(skip)(title, { timeout: 300_000 }, () => {
  // Fetches and compiles, the first time.
  beforeAll(() => contenders(), 300_000);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.concurrent('measures hand-overs, for everybody', async () => {
    const { handover } = await bench<{ handover: { took: Samples; raw: Samples } }>(
      ...['--only', 'handover', '--contenders', ALL.join()],
    );
    expect(Object.keys(handover.took).sort()).toEqual(ALL.toSorted());
    for (const times of [handover.took, handover.raw].flatMap((samples) => Object.values(samples))) {
      expect(times.every((ms) => ms !== null && ms > 0)).toBe(true);
    }
  });

  it.concurrent('measures deaths', async () => {
    const { kill, freeze } = await bench<{
      kill: Samples;
      freeze: { took: Samples; believed: Samples };
    }>('--only', 'kill,freeze', '--contenders', 'tenure,etcd');
    // The one has a lifeline; a lease of the other has to run out.
    expect(kill['tenure']?.[0]).toBeLessThan(kill['etcd']?.[0] ?? 0);
    expect(Object.keys(freeze.took)).toHaveLength(2);
    expect(Object.values(freeze.believed).flat()).not.toContain(null);
  });

  it.concurrent('measures what a failover costs, and elections that stand idle', async () => {
    const { costs, idle } = await bench<{
      costs: readonly { name: string; cost: { requests: number; requestBytes: number } }[];
      idle: { requests: Samples };
    }>('--only', 'costs,idle', '--contenders', 'tenure,go');
    expect(costs.map(({ name }) => name).sort()).toEqual(['go', 'tenure']);
    // A delete at least, and the path that it names.
    expect(costs.every(({ cost }) => cost.requests >= 1 && cost.requestBytes > 20)).toBe(true);
    expect(Object.keys(idle.requests).sort()).toEqual(['go', 'tenure']);
  });

  it.skipIf(noNamespaces() !== undefined).concurrent(
    'measures what a leader believes that is cut off with its server',
    async () => {
      const outcome = await bench<{ 'cut-off': Record<string, { overlap: Samples }> }>(
        ...['--only', 'cut-off', '--contenders', 'tenure,go'],
      );
      for (const role of ['follows', 'leads']) {
        const overlap = outcome['cut-off'][role]?.overlap ?? {};
        expect(Object.keys(overlap)).toHaveLength(2);
        expect(overlap['tenure']?.[0]).toBeLessThan(0);
      }
    },
  );
});
