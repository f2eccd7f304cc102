import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../deploy/local/index.js';
import { monotonicMs, sleep } from '../src/verify/monotonic.js';
import type { Answered, Latency, Order, Throughput } from './driver-client.js';
import { median } from './side-by-side.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    deaths: { type: 'string', default: '5' },
    clients: { type: 'string', default: '200' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(`Measures the drivers, and node-zookeeper-client, against one real ensemble, in turns.

  --rounds N    for throughput and latency (5)
  --deaths N    server deaths of each kind, for each driver (5)
  --clients N   for the memory of one (200)
`);
  process.exit();
}

const NAMES = ['wire', 'native', 'node-zookeeper-client'] as const;
type Name = (typeof NAMES)[number];
const TIMEOUT_MS = 6_000;
const WINDOW = 100;
/** How long a client is watched after a server's death: longer than its session lives. */
const WATCHED_MS = 9_000;

/** A client in a process of its own. */
class Subject {
  readonly name: Name;
  readonly #process: ChildProcess;

  constructor(name: Name) {
    this.name = name;
    this.#process = fork(fileURLToPath(new URL('./driver-client.ts', import.meta.url)), [name], {
      execArgv: ['--import', 'tsx', '--expose-gc'],
    });
  }

  order<T>(order: Order): Promise<T> {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error(`${this.name} ended during ${order.do}`));
      this.#process.once('exit', ended);
      this.#process.once('message', (message: { answer: T } | { failure: string }) => {
        this.#process.off('exit', ended);
        if ('failure' in message) reject(new Error(`${this.name}: ${message.failure}`));
        else resolve(message.answer);
      });
      this.#process.send(order);
    });
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.disconnect();
    await gone;
  }
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const percentile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;

const rows: string[][] = [['', ...NAMES]];
function row(title: string, cell: (name: Name) => string): void {
  rows.push([title, ...NAMES.map(cell)]);
}

type Measured = Map<Name, number[]>;
const note = (into: Measured, name: Name, value: number): void =>
  void into.set(name, [...(into.get(name) ?? []), value]);
const of = (from: Measured, name: Name): readonly number[] => from.get(name) ?? [];

async function steady(ensemble: Ensemble, rounds: number): Promise<void> {
  const subjects = NAMES.map((name) => new Subject(name));
  for (const subject of subjects) {
    await subject.order({ do: 'open', servers: ensemble.servers[0]?.address ?? '', timeoutMs: 10_000 });
  }
  const [statMs, writeMs]: [Measured, Measured] = [new Map(), new Map()];
  const results = { stat: { rate: new Map(), cpu: new Map() }, write: { rate: new Map(), cpu: new Map() } } as const;
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    // Who goes first changes.
    const turn = subjects.map((_, i) => subjects[(i + round) % subjects.length] as Subject);
    for (const subject of turn) {
      const { stat, write } = await subject.order<Latency>({ do: 'latency', times: 300 });
      for (const taken of stat) note(statMs, subject.name, taken);
      for (const taken of write) note(writeMs, subject.name, taken);
    }
    for (const what of ['stat', 'write'] as const) {
      for (const subject of turn) {
        const order = { do: 'throughput', what, ms: 1_500, window: WINDOW } as const;
        const { perSecond, cpuMicros } = await subject.order<Throughput>(order);
        note(results[what].rate, subject.name, perSecond);
        note(results[what].cpu, subject.name, cpuMicros);
      }
    }
  }
  for (const subject of subjects) {
    await subject.order({ do: 'close' });
    await subject.end();
  }
  const spread = (from: Measured) => (name: Name) =>
    `${percentile(of(from, name), 0.5).toFixed(2)} / ${percentile(of(from, name), 0.99).toFixed(2)} ms`;
  row('stat, one after another, p50 / p99', spread(statMs));
  row('write, one after another, p50 / p99', spread(writeMs));
  for (const what of ['stat', 'write'] as const) {
    row(`${what}, ${WINDOW} at a time`, (name) => `${Math.round(median(of(results[what].rate, name)))} /s`);
    row(`CPU of one ${what} at that`, (name) => `${median(of(results[what].cpu, name)).toFixed(1)} µs`);
  }
}

async function serverOf(ensemble: Ensemble, id: string): Promise<ZooKeeperServer | undefined> {
  for (const server of ensemble.servers) {
    if (server.running && !server.frozen && (await server.ask('cons').catch(() => '')).includes(`sid=0x${id}`))
      return server;
  }
  return undefined;
}

/** Opens until the session is on the server that is wanted. */
async function openOn(ensemble: Ensemble, subject: Subject, wanted: 'leader' | 'follower'): Promise<ZooKeeperServer> {
  for (;;) {
    const id = await subject.order<string>({ do: 'open', servers: ensemble.connectString, timeoutMs: TIMEOUT_MS });
    const server = await serverOf(ensemble, id);
    if (server !== undefined && (await server.isLeader()) === (wanted === 'leader')) return server;
    await subject.order({ do: 'close' });
  }
}

type Death = 'follower killed' | 'leader killed' | 'follower frozen';

/** How long our session was without an answer, and how much of that after the ensemble served again. */
async function death(ensemble: Ensemble, subject: Subject, kind: Death): Promise<{ without: number; after: number }> {
  const server = await openOn(ensemble, subject, kind === 'leader killed' ? 'leader' : 'follower');
  await subject.order({ do: 'probe' });
  await sleep(500);
  const begin = monotonicMs();
  if (kind === 'follower frozen') server.freeze();
  else await server.kill();
  const others = ensemble.servers.filter((each) => each !== server);
  let servesAt = begin;
  if (kind === 'leader killed') {
    await waitFor(
      async () => (await Promise.all(others.map((each) => each.mode()))).some((mode) => mode === 'leader'),
      {
        what: 'another leader',
        intervalMs: 2,
      },
    );
    servesAt = monotonicMs();
  }
  await sleep(WATCHED_MS);
  const answered = await subject.order<Answered[]>({ do: 'stop' });
  const first = answered.find(({ sentAt }) => sentAt > begin + 1);
  await sleep(100);
  if (kind === 'follower frozen') server.thaw();
  else await server.start();
  await ensemble.waitForQuorum();
  if (first !== undefined) await subject.order({ do: 'close' });
  const at = first?.at ?? Number.POSITIVE_INFINITY;
  return { without: at - begin, after: at - servesAt };
}

async function deaths(ensemble: Ensemble, times: number): Promise<void> {
  for (const kind of ['follower killed', 'leader killed', 'follower frozen'] as const) {
    const without: Measured = new Map();
    const after: Measured = new Map();
    for (let turn = 0; turn < times; turn++) {
      for (const name of NAMES) {
        const subject = new Subject(name);
        const taken = await death(ensemble, subject, kind);
        say(`${kind}, ${name}: ${Math.round(taken.without)} ms`);
        note(without, name, taken.without);
        note(after, name, taken.after);
        await subject.end();
      }
    }
    const shown = (value: number) => (Number.isFinite(value) ? `${Math.round(value)} ms` : `more than ${WATCHED_MS}`);
    const range = (from: Measured) => (name: Name) =>
      `${shown(median(of(from, name)))} (at most ${shown(Math.max(...of(from, name)))})`;
    row(`${kind}: without an answer`, range(without));
    if (kind === 'leader killed') row('… of that after another leads', range(after));
  }
}

async function memory(ensemble: Ensemble, clients: number): Promise<void> {
  const bytes: Measured = new Map();
  for (const name of NAMES) {
    const subject = new Subject(name);
    note(bytes, name, await subject.order<number>({ do: 'memory', servers: ensemble.connectString, clients }));
    await subject.end();
  }
  row(`memory of one idle client of ${clients}`, (name) => `${Math.round(median(of(bytes, name)) / 1024)} KiB`);
}

const ensemble = await startEnsemble({ size: 3, tickTime: 500, fsync: false, onProgress: say });
try {
  await steady(ensemble, Number(values.rounds));
  await memory(ensemble, Number(values.clients));
  await deaths(ensemble, Number(values.deaths));
} finally {
  await ensemble.close();
}
const widths = NAMES.map((_, column) => Math.max(...rows.map((cells) => cells[column + 1]?.length ?? 0)));
const first = Math.max(...rows.map(([title = '']) => title.length));
for (const [title = '', ...cells] of rows) {
  process.stdout.write(`${title.padEnd(first)}  ${cells.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('  ')}\n`);
}
