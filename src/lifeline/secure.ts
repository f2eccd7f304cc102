import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import { expectedPeer, readTls, type TlsOptions } from '../zookeeper/wire/tls.js';
import type { Address } from './address.js';

/** Dials by TLS, with the certificates as they are now: when they are needed there may be no time to read them. */
export async function secure(options: TlsOptions): Promise<(address: Address) => Socket> {
  const files = await readTls(options);
  return ({ host, port, name }) => connect({ ...files, ...expectedPeer(options, name), host, port }).setNoDelay(true);
}
