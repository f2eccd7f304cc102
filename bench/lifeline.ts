import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Ensemble, startEnsemble, waitFor } from '../deploy/local/index.js';
import { connect } from '../src/index.js';
import { monotonicMs, sleep } from '../src/verify/monotonic.js';
import { CommandRun } from '../test/support/command-run.js';
import { helpersOf } from '../test/support/helpers.js';
import { Mortal } from '../test/support/mortals.js';
import { compileSource } from './compiled.js';
import { median } from './side-by-side.js';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    expiries: { type: 'string', default: '3' },
    timeouts: { type: 'string', default: '4000,5000,10000,20000' },
    handovers: { type: 'string', default: '40' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(`Measures what the lifeline gains and costs, on a real ensemble of three servers at ZooKeeper's default settings.

  --kills N        leaders to kill with the lifeline, for each session timeout (50)
  --expiries N     leaders to kill without it, for each session timeout (3)
  --timeouts LIST  session timeouts in milliseconds (4000,5000,10000,20000)
  --handovers N    hand-overs of tenure run to time (40)
`);
  process.exit();
}

const module = pathToFileURL(join(compileSource(), 'index.js')).href;
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const ms = (value: number): string => `${value < 100 ? value.toFixed(1) : Math.round(value)} ms`;
const percentile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;

/** From SIGKILL to the successor's term. Its session is ours, so that it has no start to wait for. */
async function kills(
  ensemble: Ensemble,
  sessionTimeoutMs: number,
  lifeline: boolean,
  times: number,
): Promise<number[]> {
  const servers = ensemble.connectString;
  const tenure = await connect({ servers, sessionTimeoutMs, lifeline: false });
  const took: number[] = [];
  for (let kill = 0; kill < times; kill++) {
    const election = `kills-${sessionTimeoutMs}-${lifeline}-${kill}`;
    const leader = await Mortal.leads({ servers, election, id: 'leader', sessionTimeoutMs, lifeline, module });
    const joined = new Promise((resolve) => tenure.events.once('joined', resolve));
    const campaign = tenure.election(election).campaign();
    await joined;
    // Spread over the ticks of the servers, and long enough for the successor to have seen renewals.
    await sleep(sessionTimeoutMs / 8 + Math.random() * 500);
    const begin = monotonicMs();
    leader.signal('SIGKILL');
    const term = await campaign;
    took.push(monotonicMs() - begin);
    await term.resign();
  }
  await tenure.close();
  return took;
}

/** What a helper takes: memory in kB, and the time from its start until it waits. */
async function helper(ensemble: Ensemble): Promise<void> {
  const options = { servers: ensemble.connectString, sessionTimeoutMs: 10_000, lifeline: true, module };
  const leader = await Mortal.leads({ ...options, election: 'helper', id: 'leader' });
  const [pid = 0] = helpersOf(leader.pid);
  // Node tidies its memory up once when it has been idle for some seconds.
  await sleep(12_000);
  const ticks = (): number =>
    readFileSync(`/proc/${pid}/stat`, 'latin1')
      .split(' ')
      .slice(13, 15)
      .map(Number)
      .reduce((a, b) => a + b);
  const started = ticks();
  await sleep(10_000);
  const smaps = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const kB = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(smaps)?.[1]);
  const own = kB('Private_Clean') + kB('Private_Dirty');
  print(
    `\nhelper: ${Math.round(kB('Rss') / 1024)} MB resident, of which ${(own / 1024).toFixed(1)} MB are its own ` +
      `(the rest is Node's program, shared with the worker); ${started * 10} ms of CPU to start, ${(ticks() - started) * 10} ms in 10 s of waiting`,
  );
  await leader.kill();
}

/** What a script that runs in a process of its own has written in the end: a number. */
function numberOf(script: string): Promise<number> {
  return new Promise((resolve) => {
    let text = '';
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once('close', () => resolve(Number(text)));
  });
}

/** How long the `connect()` of a process takes with a helper to start, and without. */
async function connecting(ensemble: Ensemble): Promise<void> {
  const once = (lifeline: boolean): Promise<number> =>
    numberOf(`
    const { connect } = await import(${JSON.stringify(module)});
    const begin = performance.now();
    const tenure = await connect({ servers: ${JSON.stringify(ensemble.connectString)}, lifeline: ${lifeline} });
    process.stdout.write(String(performance.now() - begin));
    await tenure.close();`);
  const took = { true: [] as number[], false: [] as number[] };
  for (let turn = 0; turn < 12; turn++) took[turn % 2 === 0 ? 'true' : 'false'].push(await once(turn % 2 === 0));
  print(`connect(): ${ms(median(took.true))} with the lifeline, ${ms(median(took.false))} without`);
}

/** When a process that leads once began to lead, or, `long`, gave that up after two seconds: milliseconds of a clock that all share. */
async function leadOnce(servers: string, election: string, long: boolean): Promise<number> {
  const nanoseconds = await numberOf(`
    const { connect } = await import(${JSON.stringify(module)});
    const tenure = await connect({ servers: ${JSON.stringify(servers)}, sessionTimeoutMs: 10_000 });
    const term = await tenure.election(${JSON.stringify(election)}).campaign();
    if (${long}) await new Promise((resolve) => setTimeout(resolve, 2_000));
    process.stdout.write(String(process.hrtime.bigint()));
    await term.resign();
    await tenure.close();`);
  return nanoseconds / 1e6;
}

/**
 * From the end of the leader's command to the start of the successor's, against its parts measured in turns with it: a
 * hand-over by the module, and the start of a process. Both in processes that have just been started, where code runs for the first time.
 */
async function commands(ensemble: Ensemble, times: number): Promise<void> {
  const servers = ensemble.connectString;
  const observer = await connect({ servers, lifeline: false });
  const led = (election: string) =>
    waitFor(async () => (await observer.election(election).current()).leader !== null, { what: 'the first' });
  // The commands' own clock: this machine's wall clock, in nanoseconds.
  const now = 'exec date +%s%N';
  const took: number[] = [];
  const handedOver: number[] = [];
  const processes: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const election = `commands-${turn}`;
    const first = new CommandRun({
      servers,
      election,
      sessionTimeoutMs: 10_000,
      command: ['sh', '-c', `sleep 2; ${now}`],
    });
    await led(election);
    const second = new CommandRun({ servers, election, sessionTimeoutMs: 10_000, command: ['sh', '-c', now] });
    await Promise.all([first.exited, second.exited]);
    took.push(Number(BigInt(second.text.trim()) - BigInt(first.text.trim())) / 1e6);

    const beside = `module-${turn}`;
    const resigns = leadOnce(servers, beside, true);
    await led(beside);
    const [leads, resigned] = await Promise.all([leadOnce(servers, beside, false), resigns]);
    handedOver.push(leads - resigned);

    const begin = monotonicMs();
    await new Promise((resolve) => spawn('sh', ['-c', now], { stdio: 'ignore' }).once('exit', resolve));
    processes.push(monotonicMs() - begin);
  }
  await observer.close();
  const parts = median(handedOver) + median(processes);
  print(
    `\ntenure run, ${times} times: ${ms(median(took))} from the end of a command to the start of the next; ` +
      `resign() → leads ${ms(median(handedOver))} and a process ${ms(median(processes))} take ${ms(parts)} together: ratio ${(median(took) / parts).toFixed(2)}`,
  );
}

const ensemble = await startEnsemble({ onProgress: say });
await helper(ensemble);
await connecting(ensemble);
print('\nSIGKILL → the successor leads, tickTime 2000');
for (const timeout of values.timeouts.split(',').map(Number)) {
  say(`T ${timeout} ms …`);
  const with_ = await kills(ensemble, timeout, true, Number(values.kills));
  const without = await kills(ensemble, timeout, false, Number(values.expiries));
  print(
    `  T ${ms(timeout)}: median ${ms(median(with_))}, p90 ${ms(percentile(with_, 0.9))}, p99 ${ms(percentile(with_, 0.99))}, longest ${ms(Math.max(...with_))}; ` +
      `without the lifeline ${ms(median(without))}: ${Math.round(median(without) / median(with_))} times faster`,
  );
}
await commands(ensemble, Number(values.handovers));
await ensemble.close();
