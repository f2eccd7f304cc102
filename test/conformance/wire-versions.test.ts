import { wireDriver } from '../../src/zookeeper/wire/driver.js';
import { eachVersion } from '../support/versions.js';
import { realWorld } from './real-world.js';
import { portConformance } from './suite.js';

// The pinned version with three servers is tried in wire.test.ts.
eachVersion([], (versioned) => {
  for (const size of 'version' in versioned ? ([1, 3] as const) : ([1] as const)) {
    const world = () => realWorld(async (options) => wireDriver(options), { size, ...versioned });
    portConformance(`an ensemble of ${size}, by the wire driver`, world, { transactions: true });
  }
});
