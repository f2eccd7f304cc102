import { monotonicMs, sleep } from '../src/verify/monotonic.js';
import { nativeDriver } from '../src/zookeeper/native/driver.js';
import { parseConnectString } from '../src/zookeeper/servers.js';
import { wireDriver } from '../src/zookeeper/wire/driver.js';

/**
 * One client in a process of its own, measured by bench/driver.ts: its name is the first argument, orders and answers are
 * messages.
 */

export type Order =
  | { readonly do: 'open'; readonly servers: string; readonly timeoutMs: number }
  | { readonly do: 'latency'; readonly times: number }
  | { readonly do: 'throughput'; readonly what: 'stat' | 'write'; readonly ms: number; readonly window: number }
  /** Asks again and again, until {@link Order} `stop`. */
  | { readonly do: 'probe' }
  | { readonly do: 'stop' }
  | { readonly do: 'memory'; readonly servers: string; readonly clients: number }
  | { readonly do: 'close' };

export interface Latency {
  readonly stat: readonly number[];
  readonly write: readonly number[];
}

export interface Throughput {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

/** A question that was answered: milliseconds of the monotonic clock. */
export interface Answered {
  readonly sentAt: number;
  readonly at: number;
}

interface Client {
  /** Hex, as servers show it. */
  readonly id: string;
  stat(path: string): Promise<unknown>;
  write(path: string): Promise<unknown>;
  ensure(path: string): Promise<void>;
  close(): Promise<void>;
}

const DATA = Buffer.from('{"v":1}');
const PATH = '/bench-driver';

async function ours(name: 'native' | 'wire', connectString: string, sessionTimeoutMs: number): Promise<Client> {
  const { servers } = parseConnectString(connectString);
  const options = { servers, sessionTimeoutMs, connectTimeoutMs: 15_000 };
  const session = await (name === 'native' ? await nativeDriver(options) : wireDriver(options)).open();
  return {
    id: session.id.replace(/^0+/, ''),
    stat: (path) => session.stat(path),
    write: (path) => session.write(path, DATA, -1),
    ensure: async (path) => void (await session.create(path, DATA, 'persistent').catch(() => {})),
    close: () => session.close(),
  };
}

/** What we use of `node-zookeeper-client`. */
interface Peer {
  connect(): void;
  close(): void;
  once(event: string, listener: () => void): void;
  getSessionId(): Buffer;
  exists(path: string, done: (error: Error | null) => void): void;
  setData(path: string, data: Buffer, version: number, done: (error: Error | null) => void): void;
  create(path: string, data: Buffer, done: (error: Error | null) => void): void;
}

async function peer(connectString: string, sessionTimeout: number): Promise<Client> {
  // @ts-expect-error it has no types
  const { createClient } = (await import('node-zookeeper-client')).default as {
    createClient(servers: string, options: object): Peer;
  };
  const client = createClient(connectString, { sessionTimeout, spinDelay: 50 });
  await new Promise<void>((resolve) => {
    client.once('connected', resolve);
    client.connect();
  });
  const promised = (call: (done: (error: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => call((error) => (error ? reject(error) : resolve())));
  return {
    id: client.getSessionId().toString('hex').replace(/^0+/, ''),
    stat: (path) => promised((done) => client.exists(path, done)),
    write: (path) => promised((done) => client.setData(path, DATA, -1, done)),
    ensure: (path) => promised((done) => client.create(path, DATA, done)).catch(() => {}),
    close: async () => {
      client.close();
      await sleep(50);
    },
  };
}

const name = process.argv[2] ?? '';
const make = (servers: string, timeoutMs: number): Promise<Client> =>
  name === 'native' || name === 'wire' ? ours(name, servers, timeoutMs) : peer(servers, timeoutMs);

let client: Client | null = null;
let probing = false;
let answered: Answered[] = [];

function present(): Client {
  if (client === null) throw new Error('not open');
  return client;
}

async function latency(times: number): Promise<Latency> {
  const taken = { stat: [] as number[], write: [] as number[] };
  for (let i = -200; i < times; i++) {
    for (const what of ['stat', 'write'] as const) {
      const begin = monotonicMs();
      await present()[what](PATH);
      if (i >= 0) taken[what].push(monotonicMs() - begin);
    }
  }
  return taken;
}

async function throughput(what: 'stat' | 'write', ms: number, window: number): Promise<Throughput> {
  const run = async (until: number): Promise<number> => {
    let count = 0;
    const one = async (): Promise<void> => {
      while (monotonicMs() < until) {
        await present()[what](PATH);
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: window }, one));
    return count;
  };
  await run(monotonicMs() + ms / 3);
  const [begin, cpu] = [monotonicMs(), process.cpuUsage()];
  const count = await run(begin + ms);
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (count * 1_000) / (monotonicMs() - begin), cpuMicros: (user + system) / count };
}

async function probe(): Promise<void> {
  probing = true;
  answered = [];
  while (probing) {
    const sentAt = monotonicMs();
    await present()
      .stat(PATH)
      .then(() => answered.push({ sentAt, at: monotonicMs() }))
      .catch(() => {});
    await sleep(2);
  }
}

/** Bytes of memory for each of so many idle clients. */
async function memory(servers: string, clients: number): Promise<number> {
  const opened = [await make(servers, 10_000)];
  const resident = () => {
    globalThis.gc?.();
    return process.memoryUsage().rss;
  };
  await sleep(300);
  const before = resident();
  while (opened.length < clients) opened.push(...(await Promise.all([1, 2, 3, 4].map(() => make(servers, 10_000)))));
  await sleep(300);
  const bytes = (resident() - before) / (opened.length - 1);
  await Promise.all(opened.map((each) => each.close()));
  return bytes;
}

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'open':
      client = await make(order.servers, order.timeoutMs);
      await client.ensure(PATH);
      return client.id;
    case 'latency':
      return latency(order.times);
    case 'throughput':
      return throughput(order.what, order.ms, order.window);
    case 'probe':
      void probe();
      return null;
    case 'stop':
      probing = false;
      return answered;
    case 'memory':
      return memory(order.servers, order.clients);
    case 'close':
      await client?.close();
      client = null;
      return null;
  }
}

process.on('message', (order: Order) => {
  obey(order).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ failure: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
