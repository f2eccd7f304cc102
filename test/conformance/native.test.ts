import { nativeDriver } from '../../src/zookeeper/native/driver.js';
import { realWorld } from './real-world.js';
import { portConformance } from './suite.js';

portConformance('real ZooKeeper by the native driver', () => realWorld(nativeDriver));
