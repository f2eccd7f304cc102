/** Everything from the ensemble to the pager, to look at and to break: `npx tsx deploy/stack/stack.ts --help`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MissingToolError, waitFor } from '../local/index.js';
import { Drills } from './drills.js';
import { parseOptions, type StackArguments, USAGE } from './options.js';
import { FAST, NORMAL } from './pace.js';
import { Stack } from './running.js';
import { told } from './telling.js';

const startedAt = performance.now();

function say(line: string): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(`${seconds.padStart(6)} s  ${line}\n`);
}

function addresses({ ensemble, postgres, workers, prometheus, alertmanager, directory }: Stack): string {
  const lines = [
    ['prometheus', `${prometheus.url}/alerts`],
    ['alertmanager', `${alertmanager.url}/#/alerts`],
    ['zookeeper', ensemble.connectString],
    ['postgres', postgres.url],
    ...workers.map(({ name, address, pid }) => [name, `http://${address}/metrics (pid ${pid})`]),
    ...ensemble.servers.map(({ id, metricsUrl, pid }) => [`zookeeper-${id}`, `${metricsUrl} (pid ${pid})`]),
    ['logs', directory],
  ];
  return lines.map(([name = '', where = '']) => `${name.padEnd(13)}${where}\n`).join('');
}

/** Each drill to its end: the page, and the notice that it is over. */
async function drill(stack: Stack): Promise<void> {
  const drills = new Drills(stack, say);
  const until = (status: 'firing' | 'resolved', alertname: string, since: number) =>
    waitFor(() => stack.inbox.find('page', status, { alertname }, since), {
      what: `${alertname} to be ${status}`,
      timeoutMs: 300_000,
      intervalMs: 100,
    });
  const { at } = await drills.frequentElections();
  const page = await until('firing', 'FrequentElections', 0);
  say(`paged ${((page.at - at) / 1_000).toFixed(1)} s after the last change`);
  await drills.frozenLeader();
  await until('resolved', 'FrequentElections', page.at);
  const lost = await drills.loseQuorum();
  const second = await until('firing', 'QuorumLost', lost);
  say(`paged ${((second.at - lost) / 1_000).toFixed(1)} s after the quorum was lost`);
  await sleep(stack.pace.scrapeSeconds * 5_000);
  await drills.restoreQuorum();
  await until('resolved', 'QuorumLost', second.at);
}

async function run(options: StackArguments, interrupted: Promise<void>): Promise<void> {
  // Read when the folder would be removed.
  if (options.keep) process.env['TENURE_KEEP'] = '1';
  const starting = Stack.start({
    pace: options.fast ? FAST : NORMAL,
    onProgress: say,
    onNotification: (notification) => told(notification).forEach(say),
  });
  const stack = await Promise.race([starting, interrupted]);
  // What has been started by now ends with this process.
  if (stack === undefined) return;
  process.stdout.write(`\n${addresses(stack)}\n`);
  if (options.drill) await Promise.race([drill(stack), interrupted]);
  else say('kill -USR2 makes a worker hand settlement over; so does killing it, a session timeout later');
  say('Ctrl-C ends everything');
  await interrupted;
  await Promise.race([stack.close(), sleep(15_000)]);
}

async function main(): Promise<number> {
  let options: StackArguments;
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
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  try {
    await run(options, interrupted);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof MissingToolError ? error.message : (error as Error).stack}\n`);
    return 1;
  }
}

// At exit, however it comes about, whatever still runs is killed.
process.exit(await main());
