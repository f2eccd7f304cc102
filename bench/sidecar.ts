import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type Ensemble, onExit, startEnsemble, waitFor } from '../deploy/local/index.js';
import { connect } from '../src/index.js';
import { monotonicMs, sleep } from '../src/verify/monotonic.js';
import { EventReader } from '../test/integration/agent/event-reader.js';
import { median } from '../test/support/failovers.js';
import { compileSource } from './compiled.js';

const { values } = parseArgs({
  options: {
    'hand-overs': { type: 'string', default: '100' },
    deaths: { type: 'string', default: '10' },
    candidacies: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '30' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(`Measures the sidecar beside the module, in turns, on a real ensemble of three servers.

  --hand-overs N    from DELETE to the other client's event, and from resign() to the other's term (100)
  --deaths N        clients that vanish without a word (10)
  --candidacies N   how many an idle sidecar holds (100)
  --seconds N       for how long it is watched (30)
`);
  process.exit();
}

const TTL = { hold: 'ttl', ttlMs: 600_000 };

/** A sidecar as it is installed: compiled, without a loader. */
class Sidecar {
  url = '';
  readonly pid: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid as number;
    onExit(() => child.kill('SIGKILL'));
  }

  static async start(main: string, servers: string): Promise<Sidecar> {
    const words = [main, 'agent', '--servers', servers, '--listen', '127.0.0.1:0', '--log-level', 'error'];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    const sidecar = new Sidecar(child);
    createInterface({ input: child.stdout }).on('line', (line) => {
      sidecar.url = /^listening on (\S+)$/.exec(line)?.[1] ?? '';
    });
    await waitFor(() => sidecar.url !== '', { what: 'a sidecar to listen' });
    await waitFor(async () => (await fetch(`${sidecar.url}/readyz`)).ok, { what: 'a sidecar to be ready' });
    return sidecar;
  }

  async join(election: string, body: object = TTL): Promise<Joined> {
    const path = `/v1/elections/${election}`;
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.url}${path}/candidacy`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`could not join: ${response.status} ${await response.text()}`);
    const { key, id } = (await response.json()) as { key: string; id: string };
    const events = `${this.url}${path}/events?id=${encodeURIComponent(id)}`;
    return {
      url: `${this.url}${path}/candidacy`,
      key,
      stream: await EventReader.open(events, { 'candidacy-key': key }),
    };
  }

  /** Bytes that are resident, and milliseconds of processor time so far. */
  get use(): { rss: number; cpuMs: number } {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) * 1024;
    return { rss, cpuMs: (Number(stat[11]) + Number(stat[12])) * 10 };
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await new Promise((resolve) => this.#child.once('close', resolve));
  }
}

interface Joined {
  readonly url: string;
  readonly key: string;
  readonly stream: EventReader;
}

const state = (joined: Joined, wanted: string) =>
  joined.stream.until(wanted, ({ event, data }) => event === 'candidacy' && data.state === wanted);

const agent = new Agent({ keepAlive: true });

/** Gives it up, on a connection that is there. */
async function leave({ url, key }: Joined): Promise<void> {
  const asked = request(url, { method: 'DELETE', agent, headers: { 'candidacy-key': key } });
  asked.end();
  const [response] = await once(asked, 'response');
  response.resume();
  await once(response, 'end');
}

/** One leads, the other waits; the one gives up by DELETE, and the other is told that it leads. */
async function handOver(sidecars: readonly [Sidecar, Sidecar], election: string, turn: number): Promise<number> {
  const [from, to] = turn % 2 === 0 ? sidecars : [sidecars[1], sidecars[0]];
  const leader = await from.join(election);
  await state(leader, 'leading');
  const next = await to.join(election);
  await state(next, 'waiting');
  await sleep(40);
  const begin = monotonicMs();
  const [{ at }] = await Promise.all([state(next, 'leading'), leave(leader)]);
  await leave(next);
  for (const { stream } of [leader, next]) stream.close();
  return at - begin;
}

/** The same, by the module alone. */
async function resignation(
  ensemble: Ensemble,
): Promise<{ once: (turn: number) => Promise<number>; close: () => Promise<void> }> {
  const tenures = await Promise.all([1, 2].map(() => connect({ servers: ensemble.connectString, lifeline: false })));
  return {
    once: async (turn) => {
      const elections = tenures.map((tenure) => tenure.election('module'));
      const [from, to] = turn % 2 === 0 ? elections : elections.reverse();
      if (from === undefined || to === undefined) throw new Error('there are two');
      const leader = await from.campaign();
      const joined = new Promise((resolve) => {
        for (const tenure of tenures) tenure.events.once('joined', resolve);
      });
      const next = to.campaign();
      await joined;
      await sleep(40);
      const begin = monotonicMs();
      const [term] = await Promise.all([next, leader.resign()]);
      const took = monotonicMs() - begin;
      await term.resign();
      return took;
    },
    close: async () => {
      for (const tenure of tenures) await tenure.close();
    },
  };
}

/** A client that leads and vanishes: from the end of its last deadline to the moment at which the other is told. */
async function death([from, to]: readonly [Sidecar, Sidecar], election: string): Promise<number> {
  const leader = await from.join(election, { hold: 'stream' });
  await state(leader, 'leading');
  const next = await to.join(election);
  await state(next, 'waiting');
  const asked = monotonicMs();
  const last = await fetch(leader.url, { headers: { 'candidacy-key': leader.key } });
  const { mayActMs } = (await last.json()) as { mayActMs: number };
  leader.stream.close();
  const { at } = await state(next, 'leading');
  await fetch(next.url, { method: 'DELETE', headers: { 'candidacy-key': next.key } });
  next.stream.close();
  return at - asked - mayActMs;
}

async function idle(sidecar: Sidecar, candidacies: number, seconds: number, body: object): Promise<string> {
  const joined: Joined[] = [];
  for (let i = 0; i < candidacies; i += 1)
    joined.push(await sidecar.join(`idle-${JSON.stringify(body).length}-${i}`, body));
  await sleep(5_000);
  const before = sidecar.use;
  const begin = monotonicMs();
  await sleep(seconds * 1_000);
  const { rss, cpuMs } = sidecar.use;
  const share = ((cpuMs - before.cpuMs) / (monotonicMs() - begin)) * 100;
  for (const { url, key, stream } of joined) {
    stream.close();
    await fetch(url, { method: 'DELETE', headers: { 'candidacy-key': key } });
  }
  return `${share.toFixed(2)} % of a core, ${(rss / 2 ** 20).toFixed(0)} MB`;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const ms = (value: number): string => `${value.toFixed(1)} ms`;
const at = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? Number.NaN;

const main = join(compileSource(), 'cli/main.js');
const ensemble = await startEnsemble();
const sidecars = (await Promise.all([1, 2].map(() => Sidecar.start(main, ensemble.connectString)))) as [
  Sidecar,
  Sidecar,
];
const module = await resignation(ensemble);
const times = { module: [] as number[], sidecar: [] as number[] };
for (let turn = 0; turn < Number(values['hand-overs']); turn += 1) {
  times.module.push(await module.once(turn));
  times.sidecar.push(await handOver(sidecars, 'sidecar', turn));
}
await module.close();
const ratio = median(times.sidecar) / median(times.module);
say(`hand-over, module:   median ${ms(median(times.module))}, p99 ${ms(at(times.module, 0.99))}`);
say(
  `hand-over, sidecar:  median ${ms(median(times.sidecar))}, p99 ${ms(at(times.sidecar, 0.99))}; ratio ${ratio.toFixed(2)}`,
);
const deaths: number[] = [];
for (let i = 0; i < Number(values.deaths); i += 1) deaths.push(await death(sidecars, `death-${i}`));
say(
  `a client vanishes:   ${ms(median(deaths))} after its last deadline (median of ${deaths.length}; 6 % of it is for clocks)`,
);
await sidecars[1].stop();
const fresh = await Sidecar.start(main, ensemble.connectString);
const empty = fresh.use;
say(`an empty sidecar:    ${(empty.rss / 2 ** 20).toFixed(0)} MB`);
const count = Number(values.candidacies);
say(`${count} idle candidacies, each with a stream: ${await idle(fresh, count, Number(values.seconds), TTL)}`);
await Promise.all([sidecars[0].stop(), fresh.stop()]);
await ensemble.close();
process.exit(0);
