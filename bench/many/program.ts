/**
 * One process of Tenure with many elections; or the raw writes that these take, pipelined on one session of the same driver.
 *
 * program.ts DIST DRIVER SERVERS NAME COUNT SESSION_TIMEOUT_MS raw|elections
 *
 * `raw` writes and says how long that took. `elections` obeys its standard input: `join` joins COUNT elections, `heap` says what
 * is alive, `look` how many terms lead; `exit` ends it at once. To be run with --expose-gc; DIST is where the compiled files are.
 */
import { createInterface } from 'node:readline';
import type { Session } from '../../src/election/port.js';
import { monotonicMs } from '../../src/verify/monotonic.js';

const [dist = '', driver = '', servers = '', name = '', number = '', timeout = '', what = ''] = process.argv.slice(2);
const count = Number(number);
const sessionTimeoutMs = Number(timeout);
const say = (event: string, fields: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
};

/** What is alive on the heap, and in buffers beside it. */
function heap(): { heap: number; buffers: number } {
  for (let turn = 0; turn < 3; turn++) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed, buffers: arrayBuffers };
}

/** Processor time so far, in milliseconds: a busy machine changes little of it. */
function spent(): { cpu: number } {
  const { user, system } = process.cpuUsage();
  return { cpu: (user + system) / 1_000 };
}

async function open(): Promise<Session> {
  const { parseConnectString } = (await import(
    `${dist}/zookeeper/servers.js`
  )) as typeof import('../../src/zookeeper/servers.js');
  const options = { servers: parseConnectString(servers).servers, sessionTimeoutMs, connectTimeoutMs: 20_000 };
  if (driver === 'wire') {
    const { wireDriver } = (await import(
      `${dist}/zookeeper/wire/driver.js`
    )) as typeof import('../../src/zookeeper/wire/driver.js');
    return wireDriver(options).open();
  }
  const { nativeDriver } = (await import(
    `${dist}/zookeeper/native/driver.js`
  )) as typeof import('../../src/zookeeper/native/driver.js');
  return (await nativeDriver(options)).open();
}

/** All at once on one connection. */
async function pipelined(write: (index: number) => Promise<unknown>): Promise<number> {
  const begin = monotonicMs();
  await Promise.all(Array.from({ length: count }, (_, index) => write(index)));
  return monotonicMs() - begin;
}

async function raw(): Promise<void> {
  say('ready');
  const session = await open();
  const candidate = Buffer.alloc(150, 'x');
  const record = Buffer.alloc(400, 'x');
  const nothing = new Uint8Array();
  const root = `/${name}`;
  const paths: string[] = [];
  const enqueue = async (index: number): Promise<void> => {
    paths[index] = await session.create(`${root}/${index}/queue/lock-`, candidate, 'ephemeral_sequential');
  };
  await session.create(root, nothing, 'persistent');
  const made = await pipelined((index) =>
    Promise.all([
      session.create(`${root}/${index}`, nothing, 'persistent'),
      session.create(`${root}/${index}/queue`, nothing, 'persistent'),
      enqueue(index),
    ]),
  );
  const creates = await pipelined(enqueue);
  const records = await pipelined((index) => session.create(`${root}/${index}/term`, record, 'persistent'));
  const removals = await pipelined((index) => session.remove(paths[index] ?? ''));
  const claims = await pipelined((index) => session.write(`${root}/${index}/term`, record, 0));
  say('raw', { made, creates, records, removals, claims });
  await session.close();
}

async function elections(): Promise<void> {
  const { connect } = (await import(`${dist}/index.js`)) as typeof import('../../src/index.js');
  const tenure = await connect({ servers, sessionTimeoutMs, driver: driver === 'wire' ? 'wire' : 'native' });
  const terms: import('../../src/index.js').Term[] = [];
  let joined = 0;
  let begin = 0;
  let slowest = 0;
  let suspect = 0;
  tenure.events.on('renewal_confirmed', ({ roundTripMs }) => {
    slowest = Math.max(slowest, roundTripMs);
  });
  tenure.events.on('suspect', () => {
    suspect += 1;
  });
  tenure.events.on('joined', () => {
    joined += 1;
    if (joined === count) say('count', { what: 'joined', at: monotonicMs(), took: monotonicMs() - begin, ...spent() });
  });
  // One of each, as what is measured is not what the caller keeps.
  const won = (term: import('../../src/index.js').Term): void => {
    if (terms.push(term) < count) return;
    say('count', { what: 'led', at: monotonicMs(), took: monotonicMs() - begin, ...spent() });
  };
  const failed = (error: Error): void => say('failed', { error: error.message });
  say('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'exit') process.exit();
    else if (line === 'heap') say('count', { what: 'heap', at: monotonicMs(), ...heap() });
    else if (line === 'look') {
      const leading = terms.filter(({ state }) => state === 'leading').length;
      say('count', { what: 'look', at: monotonicMs(), leading, slowest, suspect, ...spent() });
      slowest = 0;
    } else if (line === 'join') {
      begin = monotonicMs();
      for (let index = 0; index < count; index++) {
        tenure.election(`${name}/${index}`).campaign().then(won, failed);
      }
    }
  }
  await tenure.close();
}

await (what === 'elections' ? elections() : raw());
