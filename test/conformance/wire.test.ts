import { wireDriver } from '../../src/zookeeper/wire/driver.js';
import { realWorld } from './real-world.js';
import { portConformance } from './suite.js';

portConformance('real ZooKeeper by the wire driver', () => realWorld(async (options) => wireDriver(options)), {
  transactions: true,
});
