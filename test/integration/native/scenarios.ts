/**
 * What a process may do with native sessions and must survive. Each runs alone in a process of its own, as what it guards
 * against ends the process: `scenarios.ts NAME HOST:PORT`. The last line of output is a JSON value for the test.
 */
import { spawn } from 'node:child_process';
import { createConnection } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { nextState } from '../../support/driver-tests.js';
import { Relay } from './relay.js';
import { bytes, kindOf, nextChange, open, sleep } from './support.js';

const [name = '', address = ''] = process.argv.slice(2);
const path = `/scenario-${process.pid}`;
const port = Number(address.split(':')[1]);

const scenarios: Record<string, () => Promise<unknown>> = {
  async 'quiet life'() {
    const session = await open(address);
    await session.create(path, bytes(''), 'ephemeral');
    await session.close();
    return undefined;
  },

  /** Closing from a listener and from the continuation of an operation, while others wait for the same event. */
  async 'close in a reaction'() {
    const writer = await open(address);
    for (let round = 0; round < 20; round += 1) {
      await writer.create(path, bytes(''), 'ephemeral');
      const session = await open(address);
      const closing: Promise<void>[] = [];
      session.onNode(path, () => closing.push(session.close()));
      session.onNode(path, () => closing.push(session.close()));
      await Promise.all([
        session.read(path, { watch: true }),
        session.stat(path, { watch: true }),
        session.children(path, { watch: true }),
      ]);
      const waiting = kindOf(session.stat('/')).then(() => kindOf(session.stat('/')));
      const gone = nextChange(session, path).then(() => session.close());
      await writer.remove(path);
      await gone;
      await waiting;
      await Promise.all(closing);
    }
    const last = await open(address);
    await last.stat('/').then(() => last.close());
    await writer.close();
    return 'survived';
  },

  /** A socket that is opened on the news of a disconnect must not get the dead connection's descriptor. */
  async 'socket in a reaction'() {
    const relay = await Relay.listen({ port: 0, targetPort: port });
    const session = await open(`127.0.0.1:${relay.port}`);
    const connected: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const socket = nextState(session, 'disconnected').then(
        () =>
          new Promise<void>((resolve, reject) => {
            const opened = createConnection({ port, host: '127.0.0.1' }, () => {
              connected.push('socket');
              opened.destroy();
              resolve();
            });
            opened.on('error', reject);
          }),
      );
      const another = nextState(session, 'disconnected').then(() => open(address));
      relay.drop();
      await socket;
      await (await another).close();
      connected.push('session');
      await nextState(session, 'connected');
    }
    await session.close();
    await relay.close();
    return connected.length;
  },

  async 'one function, two sessions'() {
    const [one, two] = [await open(address), await open(address)];
    await one.create(path, bytes(''), 'ephemeral');
    let calls = 0;
    const listener = (): void => {
      calls += 1;
    };
    for (const session of [one, two]) {
      session.onNode(path, listener);
      session.onState(listener);
      await session.read(path, { watch: true });
    }
    await one.write(path, bytes('1'));
    await two.sync('/');
    await one.close();
    await two.close();
    return calls;
  },

  /** A second isolate with the addon would crash the process. */
  async 'worker thread'() {
    const session = await open(address);
    const worker = new Worker(fileURLToPath(new URL('worker.mjs', import.meta.url)), { workerData: address });
    const code = await new Promise((resolve, reject) => {
      worker.on('message', resolve);
      worker.on('error', reject);
    });
    await worker.terminate();
    const kind = await kindOf(session.stat('/'));
    await session.close();
    return [code, kind];
  },

  /** A child that outlives a connection: what this process does afterwards. */
  async 'child process'() {
    let warned = false;
    const warn = (): void => {
      warned = true;
    };
    const session = await open(address, { onWarning: warn });
    const child = spawn('sleep', ['30'], { stdio: 'ignore' });
    await sleep(50);
    await session.close();
    const used = process.cpuUsage();
    await sleep(500);
    const { user, system } = process.cpuUsage(used);
    child.kill();
    return { warned, spins: user + system > 250_000 };
  },

  /** One that throws is reported, and takes nothing from the others. */
  async 'throwing listener'() {
    const reported: string[] = [];
    process.on('uncaughtException', (error) => reported.push(error.message));
    const session = await open(address);
    await session.create(path, bytes(''), 'ephemeral');
    session.onNode(path, () => {
      throw new Error('mine');
    });
    const second = nextChange(session, path);
    await session.read(path, { watch: true });
    const write = session.write(path, bytes(''));
    const heard = await second;
    await write;
    await session.close();
    return [heard, reported];
  },
};

const result = await scenarios[name]?.();
if (result !== undefined) console.log(JSON.stringify(result));
