/** The settlement demo: `npx tsx examples/settlement/demo.ts --help`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MissingToolError, WaitTimeoutError, waitFor } from '../../deploy/local/index.js';
import { readBooks } from './books.js';
import { type Evidence, findings } from './checks.js';
import { Chronicle } from './chronicle.js';
import { Narrator } from './narrator.js';
import { type DemoOptions, FAST, NORMAL, parseOptions, USAGE } from './options.js';
import { logFolder, type Stage, setStage } from './stage.js';
import { termTable, totals, verdict } from './summary.js';
import { telling } from './telling.js';
import { Timeline } from './timeline.js';

const narrator = new Narrator(process.stdout);

let stage: Stage | undefined;

let interrupted = false;

/** What Ctrl-C exits with: 130, or the verdict once that has been given. */
let interruptedCode = 130;

async function perform(options: DemoOptions): Promise<number> {
  const directory = logFolder();
  const chronicle: Chronicle = new Chronicle(telling(narrator, () => chronicle));
  try {
    narrator.act('Three ZooKeeper servers, PostgreSQL and three workers are started');
    const pace = options.fast ? FAST : NORMAL;
    stage = await setStage(directory, pace, chronicle, (line) => narrator.say(line));
    narrator.status(() => {
      const { leading, batches, refusals } = chronicle;
      const leader = leading === undefined ? 'nobody leads' : `${leading.worker} leads term ${leading.term}`;
      return `${leader} · ${batches} batches settled · ${refusals.length} writes refused`;
    });
    const outage = await new Timeline(stage, narrator).play();
    const holds = conclude(await gather(stage, outage, options.keep));
    if (!holds) keepLogs(directory);
    if (options.keep) {
      interruptedCode = holds ? 0 : 1;
      await linger(stage);
    }
    await stage.close();
    return holds ? 0 : 1;
  } catch (error) {
    // What fails while everything is being taken down is no news.
    if (interrupted) await forever();
    if (error instanceof MissingToolError) {
      process.stderr.write(`${error.message}\n`);
      return 1;
    }
    narrator.say(error instanceof WaitTimeoutError ? error.message : String((error as Error).stack), 'red');
    keepLogs(directory);
    return 1;
  } finally {
    narrator.close();
  }
}

async function gather(stage: Stage, outage: Evidence['outage'], keep: boolean): Promise<Evidence> {
  const { fleet, chronicle, pool } = stage;
  const expected = fleet.members.map(({ name, pid }) => `${name} (${pid})`);
  let found: string[] = [];
  // One that has just handed over or has just been started may not have come back to the queue yet. A ghost would stay.
  await waitFor(
    async () => {
      found = await stage.candidates();
      return found.length === expected.length && expected.every((candidate) => found.includes(candidate));
    },
    { what: 'the queue', timeoutMs: 10_000, intervalMs: 250 },
  ).catch(() => {});
  let farewell: Evidence['farewell'] = null;
  if (!keep) {
    narrator.say('the workers are asked to stop');
    const ends = await fleet.stop();
    farewell = { ends, left: await stage.candidates() };
  }
  const books = await readBooks(pool);
  const { terms, refusals } = chronicle;
  return { terms, refusals, books, outage, queue: { expected, found }, farewell };
}

function conclude(evidence: Evidence): boolean {
  narrator.act('What happened');
  for (const line of [...termTable(evidence), '', ...totals(evidence)]) narrator.print(line);
  narrator.act('What must hold');
  const found = findings(evidence);
  for (const line of verdict(found, (style, text) => narrator.paint(style, text))) narrator.print(line);
  const failed = found.filter(({ violations }) => violations.length > 0).length;
  const time = `after ${(narrator.elapsedMs / 1_000).toFixed(1)} s`;
  narrator.print('');
  if (failed === 0) narrator.print(narrator.paint('green', `All ${found.length} invariants hold, ${time}.`));
  else narrator.print(narrator.paint('red', `${failed} of ${found.length} invariants do not hold, ${time}.`));
  return failed === 0;
}

function keepLogs(directory: string): void {
  process.env['TENURE_KEEP'] = '1';
  narrator.print(`The logs of workers and servers are in ${directory}`);
}

/** Everything goes on until Ctrl-C. */
async function linger({ ensemble, postgres, payments, page, directory }: Stage): Promise<void> {
  payments.start();
  narrator.act('Everything goes on until Ctrl-C');
  narrator.print(
    `page       ${await page.then(
      ({ url }) => url,
      () => 'none: see above',
    )}`,
  );
  narrator.print(`zookeeper  ${ensemble.connectString}`);
  narrator.print(`postgres   ${postgres.url}`);
  narrator.print(`logs       ${directory}`);
  await forever();
}

const forever = (): Promise<never> => new Promise(() => {});

/**
 * Not at once: tsx, when a signal reaches us both, kills a child that is too busy to tell it so. Before the stage is set the exit
 * hooks alone end what has been started.
 */
async function interrupt(): Promise<void> {
  if (interrupted) return;
  interrupted = true;
  narrator.close();
  await sleep(50);
  setTimeout(() => process.exit(interruptedCode), 5_000);
  await stage?.close().catch(() => {});
  process.exit(interruptedCode);
}

async function main(): Promise<number> {
  let options: DemoOptions;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('. ')[0]}: --help lists the options\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void interrupt());
  return perform(options);
}

// At exit, however it comes about, workers and servers are killed and their folder is removed.
process.exit(await main());
