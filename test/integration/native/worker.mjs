// Plain JavaScript: a worker thread does not get the loader that the tests' TypeScript needs on every Node.
import { register } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

register('tsx/esm', import.meta.url, { data: true });
const { nativeDriver } = await import('../../../src/zookeeper/native/driver.js');
const [host, port] = workerData.split(':');
const options = { servers: [{ host, port: Number(port) }], sessionTimeoutMs: 4000, connectTimeoutMs: 4000 };
try {
  await nativeDriver(options);
  parentPort.postMessage('loaded');
} catch (error) {
  parentPort.postMessage(error.code);
}
