import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Arena } from './peers/arena.js';
import { chart } from './peers/chart.js';
import { contenders, lacking } from './peers/contenders.js';
import { costs, idle } from './peers/crowds.js';
import { cutOffs, noNamespaces } from './peers/cut-offs.js';
import { deaths } from './peers/deaths.js';
import type { Samples } from './peers/figures.js';
import { handovers } from './peers/handovers.js';
import { panels, type Results } from './peers/panels.js';
import { described, HEAD, labelled, load, machine, ms, rows, settings, table } from './peers/report.js';

/** The parts, and how often each is repeated by default. */
const PARTS = {
  handover: 20,
  kill: 10,
  freeze: 6,
  'cut-off': 3,
  costs: 3,
  idle: 2,
} as const;
type Part = keyof typeof PARTS;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(PARTS).join() },
    rounds: { type: 'string' },
    timeout: { type: 'string' },
    contenders: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    chart: { type: 'string' },
    draw: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(`Measures Tenure, Curator, kazoo, go-zookeeper and etcd side by side, on one ensemble of ZooKeeper and one cluster of etcd.

  --only LIST    parts of ${Object.keys(PARTS).join(', ')} (all)
  --rounds N     repetitions of each part (${Object.entries(PARTS)
    .map(([part, rounds]) => `${part} ${rounds}`)
    .join(', ')}; hand-overs are five a round)
  --timeout MS   session timeout, whole seconds (4000)
  --contenders LIST  of tenure, tenure-alone, curator, kazoo, go, etcd, etcd-leader (all); etcd is needed for hand-overs
  --quick        quick servers, short timeouts, small crowds: to see that it works, not to measure
  --json FILE    every sample goes there
  --chart NAME   draws NAME.svg and NAME.png; needs chromium
  --draw LIST    with --chart: measures nothing, and draws what earlier runs wrote with --json

bench/peers/README.md says what is measured, and how.
`);
  process.exit();
}
if (lacking !== undefined) {
  process.stderr.write(`${lacking}\n`);
  process.exit(1);
}

const { quick } = values;
const timeoutMs = Number(values.timeout ?? (quick ? 2_000 : 4_000));
/** Two ticks are the least that a session may last. */
const tickTime = quick ? 500 : 2_000;
const sizes = quick ? [3] : [3, 30, 100];
const elections = quick ? 10 : 1_000;
const seconds = quick ? 1 : 10;
const wanted = values.only.split(',');
const unknown = wanted.find((part) => !(part in PARTS));
if (unknown !== undefined) throw new Error(`--only ${unknown}: the parts are ${Object.keys(PARTS).join(', ')}`);

const everything: Record<string, unknown> = {};
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (...lines: string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);

/** As JSON has it, whether it comes from a file or not. */
async function draw(results: object, name: string): Promise<void> {
  const read = JSON.parse(JSON.stringify(results)) as Results;
  const { about, loads } = read;
  const subtitle = `T = ${ms(read.timeoutMs)}; ${described(about)}; load ${Math.min(...loads)} to ${Math.max(...loads)}`;
  for (const file of await chart(panels(read, known), subtitle, name)) say(file);
}

const known = await contenders();
if (values.draw !== undefined) {
  const runs = values.draw.split(',').map((file) => JSON.parse(readFileSync(file, 'utf8')) as Results);
  const loads = runs.flatMap((run) => run.loads);
  await draw(Object.assign({}, ...runs, { loads }), values.chart ?? 'peers');
  process.exit();
}

const chosen = values.contenders?.split(',');
const all = known.filter(({ name }) => chosen?.includes(name) ?? true);
/** Differs from etcd's in what a client does that is cut off, and in nothing else. */
const usual = all.filter(({ name }) => name !== 'etcd-leader');

function section(title: string, samples: Samples, names: readonly { name: string; label: string }[] = all): void {
  print('', `### ${title}`, '', table([[...HEAD], ...rows(samples, names)]));
}

const measure: Record<Part, (arena: Arena, rounds: number) => Promise<unknown>> = {
  async handover(arena, rounds) {
    const { took, raw } = await handovers(arena, usual, rounds, say);
    section('Graceful hand-over: the leader gives up → the next one says that it leads', took);
    section('Raw yardsticks of the same minutes', raw, labelled(raw));
    return { took, raw };
  },
  async kill(arena, rounds) {
    const { took } = await deaths(arena, usual, 'kill', rounds, say);
    section(`SIGKILL → the successor says that it leads, T = ${ms(timeoutMs)}`, took);
    return took;
  },
  async freeze(arena, rounds) {
    const { took, believed, asserted } = await deaths(arena, usual, 'freeze', rounds, say);
    section(`SIGSTOP → the successor says that it leads, T = ${ms(timeoutMs)}`, took);
    section('SIGCONT, with the successor in office → the old leader is told', believed);
    section('SIGCONT → the last `assert()` that passes (Tenure)', asserted);
    return { took, believed, asserted };
  },
  async 'cut-off'(_, rounds) {
    const missing = noNamespaces();
    if (missing !== undefined) {
      print('', `### Cut off: left out, ${missing}`);
      return {};
    }
    const result: Record<string, unknown> = {};
    for (const role of ['follows', 'leads'] as const) {
      const { overlap, lost, led } = await cutOffs(all, role, { rounds, timeoutMs, tickTime }, say);
      const server = role === 'leads' ? "the ensemble's leader" : 'a follower';
      section(`The leader's server is cut off with it, ${server}: both believe (negative: nobody does)`, overlap);
      section('… from the cut until the old leader is told', lost);
      section('… from the cut until the successor says that it leads', led);
      result[role] = { overlap, lost, led };
    }
    return result;
  },
  async costs(arena, rounds) {
    const found = await costs(arena, usual, { sizes, failovers: rounds, settledMs: quick ? 400 : 1_500 }, say);
    const head = ['', 'candidates', 'requests', 'replies and events', 'bytes of requests', 'bytes of replies'];
    const lines = usual.flatMap(({ name, label }) =>
      found
        .filter((each) => each.name === name)
        .map(({ candidates, cost }) => [
          label,
          ...[candidates, cost.requests, cost.replies, cost.requestBytes, cost.replyBytes].map(String),
        ]),
    );
    print(
      '',
      '### What a failover by resignation costs the servers, signs of life left out',
      '',
      table([head, ...lines]),
    );
    return found;
  },
  async idle(arena, rounds) {
    const result = await idle(arena, usual, { elections, rounds, seconds, pauseMs: quick ? 500 : 4_000 }, say);
    const number = (value: number): string => value.toFixed(1);
    print(
      '',
      `### ${elections} elections with two candidates each, on two sessions, T = ${ms(timeoutMs)}: nothing happens`,
    );
    print('', table([['requests/s', ...HEAD.slice(1)], ...rows(result.requests, usual, number)]));
    const share = (value: number): string => `${(100 * value).toFixed(1)} %`;
    print('', table([['servers, of one core', ...HEAD.slice(1)], ...rows(result.cpu, usual, share)]));
    return result;
  },
};

const arena = await Arena.open({ tickTime, timeoutMs });
const about = machine(arena.ensemble.version);
const loads = [load()];
print(`## Side by side`, '', described(about), '', settings(all));
for (const part of Object.keys(PARTS) as Part[]) {
  if (!wanted.includes(part)) continue;
  everything[part] = await measure[part](arena, Number(values.rounds ?? PARTS[part]));
  loads.push(load());
  // After each part, so that it is not lost with a later one.
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ about, timeoutMs, loads, ...everything }, null, 2)}\n`);
}
await arena.close();
print('', `Load of the machine, at the start and after each part: ${loads.join(', ')}.`);
if (values.chart !== undefined) await draw({ about, timeoutMs, loads, ...everything }, values.chart);
process.exit();
