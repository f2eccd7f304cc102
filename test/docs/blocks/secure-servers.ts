import { join } from 'node:path';
import { type Ensemble, startEnsemble } from '../../../deploy/local/index.js';
import { Authority } from '../../integration/wire/certificates.js';
import { claimedBy } from './claims.js';
import type { World } from './world.js';

interface SecureServers {
  /** Where it listens for TLS. */
  readonly address: string;
  readonly ensemble: Ensemble;
  /** What the page has in its folder, and where it lies. */
  readonly files: Readonly<Record<string, string>>;
}

const started = new Map<World, Promise<SecureServers>>();

/** A server with the configuration that docs/operations.md shows, started once: only its port and its paths are others. */
export function secureServers(world: World): Promise<SecureServers> {
  const known = started.get(world) ?? start(world);
  started.set(world, known);
  return known;
}

async function start(world: World): Promise<SecureServers> {
  const [shown] = claimedBy('checked', ['properties']);
  if (shown === undefined) throw new Error('no page shows the configuration of a server');
  const authority = await Authority.make(join(world.folder, 'authority'));
  const [server, worker] = [
    await authority.sign('server', 'DNS:localhost,IP:127.0.0.1'),
    await authority.sign('worker', 'DNS:worker'),
  ];
  const port = await world.port();
  const lines = shown.block.code
    .trim()
    .replace('secureClientPort=2281', `secureClientPort=${port}\nsecureClientPortAddress=127.0.0.1`)
    .replace('/etc/zookeeper/server.pem', server.bothFile)
    .replace('/etc/zookeeper/ca.pem', authority.caFile)
    .split('\n');
  const ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false, extraConfig: lines });
  world.owns(ensemble);
  return {
    address: `localhost:${port}`,
    ensemble,
    files: { 'ca.pem': authority.caFile, 'worker.pem': worker.certFile, 'worker.key': worker.keyFile },
  };
}
