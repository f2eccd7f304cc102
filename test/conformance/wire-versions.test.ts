import { wireDriver } from '../../src/zookeeper/wire/driver.js';
import { realWorld } from './real-world.js';
import { portConformance } from './suite.js';

/** The oldest release line that is supported, and ensembles of one. */
const WORLDS = [{ size: 1 }, { size: 1, version: '3.8.4' }, { size: 3, version: '3.8.4' }] as const;

for (const world of WORLDS) {
  const servers = world.size === 1 ? 'one server' : 'three servers';
  const name = `${servers} of ZooKeeper ${'version' in world ? world.version : 'as it is pinned'}, by the wire driver`;
  portConformance(name, () => realWorld(async (options) => wireDriver(options), world));
}
