import type { Driver } from '../../election/port.js';
import { loadAddon } from './addon.js';
import { openSession } from './open.js';
import type { NativeDriverOptions } from './options.js';

export type { NativeDriverOptions } from './options.js';

/**
 * The driver over the npm package `zookeeper`, the official C client.
 *
 * @throws DriverUnavailableError when the package can't be used here
 */
export async function nativeDriver(options: NativeDriverOptions): Promise<Driver> {
  const create = await loadAddon();
  return { name: 'native', open: (signal) => openSession(create, options, signal) };
}
