import { monotonicMs } from '../../src/verify/monotonic.js';
import { nativeDriver } from '../../src/zookeeper/native/driver.js';
import { parseConnectString } from '../../src/zookeeper/servers.js';
import { report } from './report.js';
import type { WorkerParameters } from './worker.js';

/*
 * The common recipe, for comparison: whoever has the first node leads, for as long as its connection and its own view of the
 * queue say so. It trusts what a server answers, and learns of an expiry when it is told.
 */
const { servers, election, sessionTimeoutMs } = JSON.parse(process.argv[2] ?? '') as WorkerParameters;
const driver = await nativeDriver({
  servers: parseConnectString(servers).servers,
  sessionTimeoutMs,
  connectTimeoutMs: 20_000,
});
const session = await driver.open();
const queue = `/trusting-${election}`;
await session.create(queue, new Uint8Array(), 'persistent').catch(() => {});
const path = await session.create(`${queue}/n-`, new Uint8Array(), 'ephemeral_sequential');
let first = false;

async function look(): Promise<void> {
  const children = await session.children(queue, { watch: true });
  first = children?.names.toSorted()[0] === path.slice(queue.length + 1);
}
session.onNode(queue, () => void look().catch(() => {}));
await look();
report({ event: 'ready' });

const token = path.slice(-10);
const timer = setInterval(() => {
  if (first && session.state === 'connected')
    report({ event: 'act', at: monotonicMs(), term: 0, token: `${Number(token) + 1}` });
  if (session.state === 'expired') {
    clearInterval(timer);
    report({ event: 'ended', at: monotonicMs(), term: 0, token: `${Number(token) + 1}` });
  }
}, 2);
process.once('SIGTERM', () => {
  clearInterval(timer);
  void session.close();
});
