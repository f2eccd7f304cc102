import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Ensemble, startEnsemble, type ZooKeeperServer } from '../deploy/local/index.js';
import { connect, type Tenure, type Term } from '../src/index.js';

/*
 * What sessions and elections cost an ensemble, as slopes: processor time of the servers for each session that leads, and znodes,
 * bytes, watches and writes for each election. Processor time, not the clock, so that a busy machine changes little.
 * docs/scale.md does the arithmetic from there.
 *
 *   npx tsx bench/scale.ts [--sessions 100,200,400|none] [--elections 1000,2000,4000|none] [--seconds 20]
 */
const option = (name: string, otherwise: string): string => {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : (process.argv[at + 1] ?? otherwise);
};
const numbers = (text: string): number[] => text.split(',').map((number) => Number.parseInt(number, 10));
const SESSIONS = numbers(option('sessions', '100,200,400'));
const ELECTIONS = numbers(option('elections', '1000,2000,4000'));
const SECONDS = Number(option('seconds', '20'));
const T_MS = 10_000;
const TICKS_PER_SECOND = 100;

interface Reading {
  readonly cpuSeconds: number;
  /** What is alive on the heap of one server, behind a full collection. */
  readonly heapMiB: number;
  readonly transactions: number;
  readonly znodes: number;
  readonly bytes: number;
  readonly watches: number;
}

async function heap(server: ZooKeeperServer): Promise<number> {
  const { stdout } = await promisify(execFile)('jcmd', [String(server.pid), 'GC.class_histogram'], {
    maxBuffer: 2 ** 26,
  });
  return Number(/^Total +\d+ +(\d+)/m.exec(stdout)?.[1]) / 2 ** 20;
}

async function stat(server: ZooKeeperServer): Promise<Map<string, number>> {
  const lines = (await server.ask('mntr')).split('\n').map((line) => line.split('\t'));
  return new Map(lines.map(([name = '', value = '']) => [name, Number(value)]));
}

/** Of all servers together; what a server holds of the tree is of one. */
async function read(ensemble: Ensemble): Promise<Reading> {
  let cpuSeconds = 0;
  let watches = 0;
  for (const server of ensemble.servers) {
    const fields = readFileSync(`/proc/${server.pid}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ');
    cpuSeconds += (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    watches += (await stat(server)).get('zk_watch_count') ?? 0;
  }
  const leader = await ensemble.waitForLeader();
  const own = await stat(leader);
  const zxid = BigInt(/^Zxid: (0x[0-9a-f]+)/m.exec(await leader.ask('srvr'))?.[1] ?? '0') & 0xffffffffn;
  return {
    cpuSeconds,
    heapMiB: await heap(leader),
    watches,
    transactions: Number(zxid),
    znodes: own.get('zk_znode_count') ?? 0,
    bytes: own.get('zk_approximate_data_size') ?? 0,
  };
}

/** When nobody joins any more. */
async function settled(ensemble: Ensemble): Promise<Reading> {
  for (let last = await read(ensemble); ; ) {
    await sleep(3_000);
    const now = await read(ensemble);
    if (now.znodes === last.znodes && now.watches === last.watches) return now;
    last = now;
  }
}

const open = (ensemble: Ensemble): Promise<Tenure> =>
  connect({ servers: ensemble.connectString, sessionTimeoutMs: T_MS, lifeline: false });

/** The slope of the straight line that fits best. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (index: 0 | 1) => points.reduce((sum, point) => sum + point[index], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return over / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

async function sessions(): Promise<void> {
  await using ensemble = await startEnsemble({ size: 3, javaOptions: ['-XX:TieredStopAtLevel=4', '-Xmx1g'] });
  const all: Tenure[] = [];
  const terms: Term[] = [];
  console.log(`\nSessions, each leads one election, T = ${T_MS / 1000} s, ${SECONDS} s a step\n`);
  console.log('| sessions | writes/s | processor of three servers | heap of one server |');
  console.log('|---|---|---|---|');
  const cost: [number, number][] = [];
  for (const count of [0, ...SESSIONS]) {
    while (all.length < count) {
      const more = await Promise.all(Array.from({ length: Math.min(20, count - all.length) }, () => open(ensemble)));
      for (const tenure of more) terms.push(await tenure.election(`scale/${all.push(tenure)}`).campaign());
    }
    await sleep(3_000);
    const before = await read(ensemble);
    const from = performance.now();
    await sleep(SECONDS * 1_000);
    const after = await read(ensemble);
    const seconds = (performance.now() - from) / 1_000;
    const cpu = (after.cpuSeconds - before.cpuSeconds) / seconds;
    cost.push([count, cpu]);
    const writes = (after.transactions - before.transactions) / seconds;
    console.log(
      `| ${count} | ${writes.toFixed(1)} | ${(100 * cpu).toFixed(1)} % of a core | ${after.heapMiB.toFixed(1)} MiB |`,
    );
  }
  console.log(
    `\nslope: ${(1e6 * slope(cost)).toFixed(0)} µs of processor time a second for each session, all servers together`,
  );
  const lost = terms.filter((term) => term.state !== 'leading').length;
  if (lost > 0)
    console.log(`${lost} terms were not leading at the end: the machine was too busy, and the figures mean little`);
  await Promise.all(all.map((tenure) => tenure.close()));
}

async function elections(): Promise<void> {
  await using ensemble = await startEnsemble({
    size: 3,
    fsync: false,
    javaOptions: ['-XX:TieredStopAtLevel=4', '-Xmx1g'],
  });
  const [leader, standby] = await Promise.all([open(ensemble), open(ensemble)]);
  const leave = new AbortController();
  const waiting: Promise<unknown>[] = [];
  console.log('\nElections, with two candidates each, of two sessions\n');
  console.log('| elections | znodes | data | watches | heap of one server | writes/s when nothing happens |');
  console.log('|---|---|---|---|---|---|');
  const points: Record<'znodes' | 'bytes' | 'watches' | 'heapMiB', [number, number][]> = {
    znodes: [],
    bytes: [],
    watches: [],
    heapMiB: [],
  };
  let made = 0;
  for (const count of [0, ...ELECTIONS]) {
    while (made < count) {
      const names = Array.from({ length: Math.min(200, count - made) }, () => `scale/${made++}`);
      await Promise.all(names.map((name) => leader.election(name).campaign()));
      for (const name of names)
        waiting.push(
          standby
            .election(name)
            .campaign({ signal: leave.signal })
            .catch(() => {}),
        );
    }
    const before = await settled(ensemble);
    const from = performance.now();
    await sleep(5_000);
    const now = await read(ensemble);
    for (const key of ['znodes', 'bytes', 'watches', 'heapMiB'] as const) points[key].push([count, now[key]]);
    const rate = (now.transactions - before.transactions) / ((performance.now() - from) / 1_000);
    console.log(
      `| ${count} | ${now.znodes} | ${(now.bytes / 2 ** 20).toFixed(2)} MiB | ${now.watches} | ${now.heapMiB.toFixed(1)} MiB | ${rate.toFixed(1)} |`,
    );
  }
  const each = (key: keyof typeof points) => slope(points[key]);
  console.log(
    `\nslopes, for each election: ${each('znodes').toFixed(2)} znodes, ${each('bytes').toFixed(0)} bytes of data, ${each('watches').toFixed(2)} watches, ${(each('heapMiB') * 1024).toFixed(2)} KiB of heap on each server`,
  );
  leave.abort();
  await Promise.all(waiting);
  await Promise.all([leader.close(), standby.close()]);
}

console.log(
  `Node.js ${process.version}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores, three servers of ZooKeeper on it`,
);
if (!Number.isNaN(SESSIONS[0])) await sessions();
if (!Number.isNaN(ELECTIONS[0])) await elections();
