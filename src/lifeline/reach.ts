import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import type { Address } from './address.js';
import type { SessionCredentials } from './messages.js';

/** How the servers of a session are reached. Made ready while there is time for it. */
export interface Reach {
  readonly addresses: readonly Address[];
  dial(address: Address): Socket;
}

export async function reachOf({ servers, tls }: SessionCredentials): Promise<Reach> {
  const [found, dial] = await Promise.all([
    Promise.all(servers.map(({ host, port }) => addressesOf(host, port))),
    // Its code is a good part of this process's memory: only where it is needed.
    tls === null ? plain : import('./secure.js').then(({ secure }) => secure(tls)),
  ]);
  return { addresses: found.flat(), dial };
}

const plain = ({ host, port }: Address): Socket => connect({ host, port, noDelay: true });

async function addressesOf(name: string, port: number): Promise<Address[]> {
  if (isIP(name) !== 0) return [{ host: name, port, name }];
  // Where it can't be looked up now, the connection tries again.
  const found = await lookup(name, { all: true }).catch(() => [{ address: name }]);
  return found.map(({ address }) => ({ host: address, port, name }));
}
