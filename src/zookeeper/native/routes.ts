import { createSocket } from 'node:dgram';
import type { ServerAddress } from '../servers.js';

/**
 * Leaves out the addresses to which this machine has no route, such as the IPv6 addresses of a dual-stack name where
 * there is no IPv6. The C client's loop stands still after an attempt that fails at once: for ever if it is the first,
 * for up to a third of the session timeout if it comes later. When none has a route, all are kept: that may change.
 *
 * Connecting a datagram socket asks the routing table and sends nothing.
 */
export async function reachable(addresses: readonly ServerAddress[]): Promise<readonly ServerAddress[]> {
  const routed = await Promise.all(addresses.map(hasRoute));
  const kept = addresses.filter((_, index) => routed[index]);
  return kept.length === 0 ? addresses : kept;
}

function hasRoute({ host, port }: ServerAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const finish = (routed: boolean): void => {
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.close();
      resolve(routed);
    };
    socket.once('error', () => finish(false));
    socket.once('connect', () => finish(true));
    socket.connect(port, host);
  });
}
