import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { startEnsemble } from '../deploy/local/index.js';
import { connect } from '../src/index.js';
import { startTelemetry } from '../src/telemetry/index.js';

/*
 * What a scrape does to a process that leads many elections: how long it holds the event loop, and how much later the
 * renewals are confirmed. Nobody scraping, Tenure's page, and the exporter's own page of the same series take turns in one
 * run, so that their ratio says more than a figure of a busy machine.
 *
 *   npx tsx bench/scrape.ts [elections] [rounds]
 */
const elections = Number(process.argv[2] ?? 1_000);
const rounds = Number(process.argv[3] ?? 5);
const PHASE_MS = 3_000;
const SCRAPES = 3;

await using ensemble = await startEnsemble({ size: 3, fsync: false });
const stock = new PrometheusExporter({ preventServerStart: true });
await using telemetry = await startTelemetry({ prometheus: { port: 0 }, sdk: { metricReaders: [stock] } });
const stockServer = createServer((request, response) => stock.getMetricsRequestHandler(request, response));
await new Promise<void>((resolve) => stockServer.listen(0, '127.0.0.1', resolve));
const stockUrl = `http://127.0.0.1:${(stockServer.address() as AddressInfo).port}/metrics`;

// The one that scrapes is a process of its own: reading the page must not count.
const scraper = spawn(process.execPath, [
  '-e',
  `require('node:readline').createInterface({ input: process.stdin }).on('line', async (url) => {
    const start = performance.now();
    const text = await (await fetch(url)).text();
    console.log(JSON.stringify({ ms: performance.now() - start, bytes: text.length, lines: text.split('\\n').length }));
  })`,
]);
const answers = createInterface({ input: scraper.stdout })[Symbol.asyncIterator]();
async function scrape(url: string): Promise<{ ms: number; bytes: number; lines: number }> {
  scraper.stdin.write(`${url}\n`);
  return JSON.parse((await answers.next()).value as string);
}

const tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: 4_000 });
const names = Array.from({ length: elections }, (_, index) => `payments/tenant-${index}`);
for (let at = 0; at < names.length; at += 100) {
  await Promise.all(names.slice(at, at + 100).map((name) => tenure.election(name).campaign()));
}

/** The longest turns of the event loop until stopped, by the clock and by the processor time of this process. */
function watchTurns(): () => { wall: number; cpu: number } {
  let wall = 0;
  let cpu = 0;
  let going = true;
  let last = performance.now();
  let used = process.cpuUsage();
  const look = () => {
    const now = performance.now();
    const spent = process.cpuUsage(used);
    wall = Math.max(wall, now - last);
    cpu = Math.max(cpu, (spent.user + spent.system) / 1000);
    last = now;
    used = process.cpuUsage();
    if (going) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    going = false;
    return { wall, cpu };
  };
}

const phases = [
  { name: 'no scrape', url: null },
  { name: 'tenure', url: telemetry.metricsUrl },
  { name: 'stock exporter', url: stockUrl },
].map((phase) => ({
  ...phase,
  stalls: [] as number[],
  busy: [] as number[],
  renewals: createHistogram(),
  scrapes: [] as number[],
  size: '',
}));
let current = phases[0];
tenure.events.on('renewal_confirmed', ({ roundTripMs }) =>
  current?.renewals.record(Math.max(1, Math.round(roundTripMs * 1000))),
);

// Both pages once, unmeasured: code is compiled, and the first collection of all series is made.
for (const { url } of phases) if (url !== null) await scrape(url);
for (let round = 0; round < rounds; round++) {
  for (const phase of phases) {
    await sleep(200);
    current = phase;
    for (let turn = 0; turn < SCRAPES; turn++) {
      const stop = watchTurns();
      const until = performance.now() + PHASE_MS / SCRAPES;
      if (phase.url !== null) {
        const { ms, bytes, lines } = await scrape(phase.url);
        phase.scrapes.push(ms);
        phase.size = `${lines} lines, ${(bytes / 1e6).toFixed(1)} MB`;
      }
      await sleep(Math.max(0, until - performance.now()));
      const { wall, cpu } = stop();
      phase.stalls.push(wall);
      phase.busy.push(cpu);
    }
  }
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const middle = (values: readonly number[]): number => sorted(values)[Math.floor(values.length / 2)] ?? 0;
const base = phases[0];
console.log(`\n${elections} elections led by one process, ${rounds} rounds of ${SCRAPES} scrapes each, T = 4 s\n`);
for (const { name, stalls, busy, renewals, scrapes, size } of phases) {
  const p50 = renewals.percentile(50) / 1000;
  const p99 = renewals.percentile(99) / 1000;
  const times = (value: number, of: number): string => `${value.toFixed(1)} ms (x${(value / of).toFixed(1)})`;
  console.log(
    `${name.padEnd(15)} event loop held: median ${times(middle(stalls), middle(base?.stalls ?? []))}, ` +
      `worst ${Math.max(...stalls).toFixed(1)} ms, of it on the processor median ${middle(busy).toFixed(1)} ms, ` +
      `worst ${Math.max(...busy).toFixed(1)} ms; renewal: median ${times(p50, (base?.renewals.percentile(50) ?? 1) / 1000)}, ` +
      `p99 ${times(p99, (base?.renewals.percentile(99) ?? 1) / 1000)} of ${renewals.count}` +
      (scrapes.length === 0 ? '' : `; scrape ${middle(scrapes).toFixed(0)} ms, ${size}`),
  );
}
// By the processor's time, for on a busy machine others hold up the loop too: the first line shows how much.
const worst = Math.max(...(phases[1]?.busy ?? []));
console.log(
  `\nno turn of a scrape works for more than 50 ms: ${worst <= 50 ? 'holds' : 'broken'}, ${worst.toFixed(1)} ms`,
);

scraper.kill();
stockServer.close();
await tenure.close();
