import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Ensemble, startEnsemble, type ZooKeeperServer } from '../deploy/local/index.js';
import { monotonicMs, sleep } from '../src/verify/monotonic.js';
import { compileSource } from './compiled.js';
import { Samples } from './peers/figures.js';
import { Player, type Said } from './peers/player.js';
import { described, HEAD, load, machine, ms, rows, table } from './peers/report.js';

const { values } = parseArgs({
  options: {
    elections: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '1' },
    drivers: { type: 'string', default: 'native,wire' },
    servers: { type: 'string', default: '3' },
    'no-fsync': { type: 'boolean', default: false },
    timeout: { type: 'string', default: '20000' },
    profile: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(`Measures many elections in one process, against the raw writes that they take: pipelined, by the same driver, at the same
server. A first process makes the elections and leads them all, a second one joins them all; then the first is killed.

  --elections N   (10000)
  --rounds N      (1)
  --drivers LIST  of native, wire (both)
  --servers N     1 or 3 (3)
  --no-fsync      the servers don't wait for the disk
  --timeout MS    session timeout, at most 40000 (20000)
  --profile DIR   processor profiles of both processes go there
  --json FILE     every sample goes there
`);
  process.exit();
}

const count = Number(values.elections);
const timeoutMs = Number(values.timeout);
/** Long enough for what a process has begun beside the elections to come to an end: its reads, its histories. */
const SETTLED_MS = 3_000;
const program = fileURLToPath(new URL('./many/program.ts', import.meta.url));
const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Milliseconds, ratios and bytes; in the order in which they are shown. */
const NAMES = {
  made: 'raw: three creates for each',
  records: 'raw: a create of a record for each',
  creates: 'raw: a create of a candidate for each',
  removals: 'raw: a delete for each',
  claims: 'raw: a compare-and-set for each',
  made1: 'first process: joined all',
  led1: 'first process: leads all',
  joined2: 'second process: stands in all queues',
  takeover: 'SIGKILL of the first → the second leads all',
  madeRatio: 'joined all / its creates',
  ledRatio: 'leads all / its creates',
  joinedRatio: 'stands in all queues / its creates',
  takeoverRatio: 'takeover / deletes and compare-and-sets',
  joinCpu: 'processor time of joining one, second process',
  takeoverCpu: 'processor time of taking one over',
  slowest1: 'slowest renewal, first process',
  slowest2: 'slowest renewal, second process',
  heapLeading: 'heap, an election that leads',
  heapQueued: 'heap, an election that waits',
  buffersLeading: 'buffers, an election that leads',
  buffersQueued: 'buffers, an election that waits',
} as const;

const told = (name: string): ((value: number) => string) => {
  if (name.startsWith('heap') || name.startsWith('buffers')) return (bytes) => `${Math.round(bytes)} B`;
  if (name.startsWith('processor')) return (taken) => `${(taken * 1_000).toFixed(0)} µs`;
  return name.includes(' / ') ? (ratio) => ratio.toFixed(2) : ms;
};

class Crowd {
  readonly #player: Player;

  private constructor(player: Player) {
    this.#player = player;
  }

  static async start(words: readonly string[], profile: string | undefined): Promise<Crowd> {
    const profiled = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    return new Crowd(await Player.start([process.execPath, '--expose-gc', ...profiled, '--import', 'tsx', ...words]));
  }

  async asked(what: 'heap' | 'look'): Promise<Said> {
    const from = this.#player.said.length;
    this.#player.tell(what);
    return this.counted(what, from);
  }

  counted(what: string, from = 0): Promise<Said> {
    return this.#player.hears((said) => said.event === 'count' && said['what'] === what, {
      what: `${count} elections: ${what}`,
      timeoutMs: 300_000,
      from,
    });
  }

  async raw(): Promise<Said> {
    await this.#player.exited;
    const said = this.#player.said.find(({ event }) => event === 'raw');
    if (said === undefined) throw new Error("the raw writes didn't come to an end");
    return said;
  }

  join(): void {
    this.#player.join();
  }

  kill(): Promise<void> {
    return this.#player.kill();
  }

  /** By itself, so that a profile is written. */
  exit(): Promise<void> {
    this.#player.tell('exit');
    return this.#player.exited;
  }
}

async function round(server: ZooKeeperServer, driver: string, turn: number, samples: Samples): Promise<void> {
  const dist = compileSource();
  const words = (what: string): string[] => [
    ...[program, dist, driver, server.address],
    ...[`${what}-${driver}-${turn}`, String(count), String(timeoutMs), what],
  ];
  const add = (name: keyof typeof NAMES, value: number): void => samples.add(NAMES[name], value);
  const raw = await (await Crowd.start(words('raw'), undefined)).raw();
  const of = (what: string): number => Number(raw[what]);
  for (const name of ['made', 'records', 'creates', 'removals', 'claims'] as const) add(name, of(name));

  const grown = async (crowd: Crowd, before: Said, heap: 'heapLeading' | 'heapQueued'): Promise<void> => {
    const after = await crowd.asked('heap');
    add(heap, (Number(after['heap']) - Number(before['heap'])) / count);
    const buffers = heap === 'heapLeading' ? 'buffersLeading' : 'buffersQueued';
    add(buffers, (Number(after['buffers']) - Number(before['buffers'])) / count);
  };
  const first = await Crowd.start(words('elections'), undefined);
  const before1 = await first.asked('heap');
  first.join();
  const made1 = Number((await first.counted('joined'))['took']);
  const led1 = Number((await first.counted('led'))['took']);
  add('made1', made1);
  add('led1', led1);
  add('madeRatio', made1 / of('made'));
  add('ledRatio', led1 / (of('made') + of('records')));
  await sleep(SETTLED_MS);
  await grown(first, before1, 'heapLeading');

  const second = await Crowd.start(words('elections'), values.profile);
  const before2 = await second.asked('heap');
  const idle2 = Number((await second.asked('look'))['cpu']);
  second.join();
  const said2 = await second.counted('joined');
  const joined2 = Number(said2['took']);
  add('joinCpu', (Number(said2['cpu']) - idle2) / count);
  add('joined2', joined2);
  add('joinedRatio', joined2 / of('creates'));
  await sleep(SETTLED_MS);
  await grown(second, before2, 'heapQueued');

  const looked1 = await first.asked('look');
  add('slowest1', Number(looked1['slowest']));
  const waiting2 = Number((await second.asked('look'))['cpu']);
  const killedAt = monotonicMs();
  await first.kill();
  const ledSaid = await second.counted('led');
  const takeover = ledSaid.at - killedAt;
  add('takeover', takeover);
  add('takeoverCpu', (Number(ledSaid['cpu']) - waiting2) / count);
  add('takeoverRatio', takeover / (of('removals') + of('claims')));
  await sleep(SETTLED_MS);
  const looked2 = await second.asked('look');
  add('slowest2', Number(looked2['slowest']));
  for (const [which, looked] of [
    ['first', looked1],
    ['second', looked2],
  ] as const) {
    if (Number(looked['leading']) === count && Number(looked['suspect']) === 0) continue;
    say(`${driver}, the ${which} process: ${looked['leading']} lead, ${looked['suspect']} were suspect`);
  }
  if (values.profile === undefined) await second.kill();
  else await second.exit();
}

async function measure(ensemble: Ensemble): Promise<Record<string, Samples>> {
  const all: Record<string, Samples> = {};
  const server = ensemble.servers[0] as ZooKeeperServer;
  for (const driver of values.drivers.split(',')) {
    const samples = new Samples();
    all[driver] = samples;
    for (let turn = 0; turn < Number(values.rounds); turn++) {
      say(`${driver}, round ${turn + 1} of ${values.rounds}`);
      await round(server, driver, turn, samples);
      // The lifeline of the killed ends what it led.
      await sleep(SETTLED_MS);
    }
    const lines = Object.values(NAMES).flatMap((name) => rows(samples, [{ name, label: name }], told(name)));
    process.stdout.write(`\n### ${count} elections in one process, ${driver}\n\n${table([[...HEAD], ...lines])}\n`);
  }
  return all;
}

await using ensemble = await startEnsemble({
  size: values.servers === '1' ? 1 : 3,
  fsync: !values['no-fsync'],
  javaOptions: ['-XX:TieredStopAtLevel=4', '-Xmx1g'],
});
const about = machine(ensemble.version);
const disk = values['no-fsync'] ? 'no fsync' : 'fsync';
process.stdout.write(`${described(about)}; ${ensemble.servers.length} servers, ${disk}; load ${load()}\n`);
const samples = await measure(ensemble);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ about, count, ...samples }, null, 2)}\n`);
process.stdout.write(`\nload at the end: ${load()}\n`);
