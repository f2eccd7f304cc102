import type { ProxyOrder, ProxyReport } from './proxies.js';
import { TcpProxy } from './tcp-proxy.js';

/**
 * Runs the proxies in a process of their own, on orders from the tests. In the tests' process they
 * would stand still whenever a driver blocks its loop, as the native one does for a moment when it
 * closes, and the driver would wait for what only they can bring.
 */
const parties = new Map<number, readonly TcpProxy[]>();

async function obey(order: ProxyOrder): Promise<readonly number[]> {
  if (order.act === 'start') {
    const proxies = await Promise.all(order.targets.map(({ host, port }) => TcpProxy.start(host, port)));
    parties.set(order.party, proxies);
    return proxies.map((proxy) => proxy.port);
  }
  for (const proxy of parties.get(order.party) ?? []) {
    if (order.act === 'hold') proxy.hold(order.what);
    else if (order.act === 'drop') proxy.drop();
    else proxy.loseNextReply();
  }
  return [];
}

process.on('message', (order: ProxyOrder) => {
  obey(order).then(
    (ports) => process.send?.({ number: order.number, ports } satisfies ProxyReport),
    (error: unknown) => process.send?.({ number: order.number, failure: String(error) } satisfies ProxyReport),
  );
});
process.on('disconnect', () => process.exit());
