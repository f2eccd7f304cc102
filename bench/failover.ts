import { parseArgs } from 'node:util';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../deploy/local/index.js';
import { connect, type Tenure } from '../src/index.js';
import { Lines } from '../src/verify/lines.js';
import { monotonicMs, sleep } from '../src/verify/monotonic.js';
import { ActBook } from '../test/support/acts.js';
import { countFailovers, median } from '../test/support/failovers.js';
import { Operator } from '../test/support/operator.js';
import { WorkerProcess } from '../test/support/worker-process.js';
import { type DriverName, handOvers, sums } from './handover.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    resignations: { type: 'string', default: '200' },
    driver: { type: 'string', default: 'native,wire' },
    kills: { type: 'string', default: '10' },
    candidates: { type: 'string', default: '3,30,300' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(`Measures failovers on a real ensemble of three servers at ZooKeeper's default settings.

  --only LIST        parts of handovers, kills, patience, costs (all)
  --resignations N   hand-overs to time, with each driver (200)
  --driver LIST      whose hand-overs (native,wire)
  --kills N          leaders to kill, for each session timeout (10)
  --candidates LIST  how many stand, for what a failover costs (3,30,300)
`);
  process.exit();
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const ms = (value: number): string => `${value < 100 ? value.toFixed(1) : Math.round(value)} ms`;
const percentile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;

function table(title: string, rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  process.stdout.write(`\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}\n`);
}

/** From SIGKILL to the first act of the successor, where nothing helps but the session timeout. */
async function kills(ensemble: Ensemble, sessionTimeoutMs: number, times: number): Promise<number[]> {
  const book = new ActBook();
  const election = `kills-${sessionTimeoutMs}`;
  let started = 0;
  const join = (): Promise<WorkerProcess> => {
    started += 1;
    const parameters = { servers: ensemble.connectString, election, id: `worker-${started}`, sessionTimeoutMs };
    return WorkerProcess.start(parameters, { book });
  };
  const workers = [await join(), await join()];
  const took: number[] = [];
  for (let kill = 0; kill < times; kill++) {
    const leads = await waitFor(() => workers.find(({ id }) => id === book.all.at(-1)?.who), { what: 'a leader' });
    // Long enough for the successor to have seen renewals, and spread over the ticks of the servers.
    await sleep(sessionTimeoutMs / 4 + Math.random() * 1_000);
    const token = book.all.at(-1)?.token ?? 0n;
    const begin = monotonicMs();
    await leads.kill();
    workers.splice(workers.indexOf(leads), 1);
    const replacement = join();
    const next = await waitFor(() => book.all.find((acts) => acts.token > token), {
      what: 'a successor',
      intervalMs: 2,
    });
    took.push(next.first - begin);
    workers.push(await replacement);
  }
  await Promise.all(workers.map((worker) => worker.kill('SIGTERM')));
  return took;
}

interface Patience {
  readonly kind: string;
  readonly vacantMs: number;
  readonly patientMs: number;
}

/** How long a successor was patient after each kind of end, at T = 4 s. */
async function patience(ensemble: Ensemble): Promise<Patience[]> {
  const operator = await Operator.at(ensemble.connectString);
  const lines = new Lines();
  const results: Patience[] = [];
  const kinds: Record<
    string,
    (pair: { name: string; node: string; leader: Tenure; line: { refuse(): Promise<void> } }) => Promise<unknown>
  > = {
    'candidate node deleted by hand': ({ name, node }) => operator.remove(`${operator.queuePath(name)}/${node}`),
    'session node deleted by hand': async ({ name }) => {
      const { session } = (await operator.record(name)) as { session: string };
      await operator.remove(`${operator.root}/sessions/${session}`);
    },
    'closed with a term held by hand (unannounced)': ({ leader }) => leader.close(),
    'session expired (its line cut)': ({ line }) => line.refuse(),
  };
  for (const [kind, happen] of Object.entries(kinds)) {
    const name = `patience-${results.length}`;
    const line = await lines.to(ensemble.servers[0] as ZooKeeperServer);
    const leader = await connect({ servers: line.address, sessionTimeoutMs: 4_000 });
    await leader.election(name).campaign();
    const successor = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 4_000 });
    const elected = new Promise<{ failoverMs: number | null; patienceMs: number }>((resolve) =>
      successor.events.once('elected', resolve),
    );
    const campaign = successor.election(name).campaign();
    await sleep(1_300);
    const [first] = await operator.queue(name);
    const begin = monotonicMs();
    await happen({ name, node: first?.node ?? '', leader, line });
    const { patienceMs } = await elected;
    results.push({ kind, vacantMs: monotonicMs() - begin, patientMs: patienceMs });
    await (await campaign).resign();
    await Promise.all([leader.close(), successor.close()]);
    await line.close();
  }
  await lines.close();
  await operator.close();
  return results;
}

const drivers = values.driver.split(',').map((name): DriverName => {
  if (name === 'native' || name === 'wire') return name;
  throw new Error(`--driver takes native, wire, or both: not ${JSON.stringify(name)}`);
});

/** Each prints its tables. */
const PARTS: Record<string, (ensemble: Ensemble) => Promise<void>> = {
  async handovers(ensemble) {
    for (const driver of drivers) {
      const measured = await handOvers(ensemble, driver, Number(values.resignations));
      const figures = (name: string, samples: readonly number[]): string[] => [
        name,
        ...[median(samples), percentile(samples, 0.9), percentile(samples, 0.99), Math.max(...samples)].map(ms),
      ];
      table(
        `${measured.handOver.length} hand-overs with the ${driver} driver, and their parts, measured raw in between`,
        [
          ['', 'median', 'p90', 'p99', 'longest'],
          figures('resign() → the successor leads', measured.handOver),
          figures('a delete → it is confirmed', measured.committed),
          figures('a delete → another client is told', measured.told),
          figures('a read', measured.read),
          figures('a compare-and-set', measured.write),
          figures('told, read and written', sums(measured)),
        ],
      );
      const ratio = median(measured.handOver) / median(sums(measured));
      process.stdout.write(`  a hand-over takes ${ratio.toFixed(2)} times what its parts do\n`);
    }
  },

  async kills(ensemble) {
    const rows = [['T', 'median', 'of T', 'shortest', 'longest', 'of T']];
    for (const timeout of [4_000, 10_000]) {
      const took = await kills(ensemble, timeout, Number(values.kills));
      const share = (value: number): string => `${Math.round((value / timeout) * 100)} %`;
      const [middle, least, most] = [median(took), Math.min(...took), Math.max(...took)];
      rows.push([ms(timeout), ms(middle), share(middle), ms(least), ms(most), share(most)]);
    }
    table(`SIGKILL → the successor acts, ${values.kills} times each, tickTime 2000`, rows);
  },

  async patience(ensemble) {
    table('patience of the successor, T = 4 s, lease 2,666 ms', [
      ['what ended the term', 'until the next one', 'of that patient'],
      ...(await patience(ensemble)).map(({ kind, vacantMs, patientMs }) => [kind, ms(vacantMs), ms(patientMs)]),
    ]);
  },

  async costs(ensemble) {
    const lines = new Lines();
    const costs = [['candidates', 'requests', 'bytes', 'replies and events', 'bytes', 'resign → leads']];
    for (const candidates of values.candidates.split(',').map(Number)) {
      const line = await lines.to(ensemble.servers[0] as ZooKeeperServer);
      const [cost] = await countFailovers(line, `cost-of-${String(candidates).padStart(4, '0')}`, candidates, 1);
      await line.close();
      if (cost === undefined) throw new Error('a failover was to be counted');
      costs.push(
        [candidates, cost.requests, cost.requestBytes, cost.replies, cost.replyBytes].map(String).concat(ms(cost.ms)),
      );
    }
    table('one failover by resignation, counted before the servers; signs of life left out', costs);
    await lines.close();
  },
};

const wanted = (values.only ?? Object.keys(PARTS).join(',')).split(',');
const unknown = wanted.find((part) => PARTS[part] === undefined);
if (unknown !== undefined) throw new Error(`--only ${unknown}: the parts are ${Object.keys(PARTS).join(', ')}`);

await using ensemble = await startEnsemble({ onProgress: say });
for (const part of wanted) {
  say(`${part} …`);
  await PARTS[part]?.(ensemble);
}
