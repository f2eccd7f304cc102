import type { Driver } from '../../election/port.js';
import { openSession } from './open.js';
import type { WireDriverOptions } from './options.js';
import type { WireSession } from './session.js';

export type { WireDriverOptions } from './options.js';

export interface WireDriver extends Driver {
  open(signal?: AbortSignal): Promise<WireSession>;
}

/** The driver that speaks ZooKeeper's protocol itself, over TCP or TLS. */
export function wireDriver(options: WireDriverOptions): WireDriver {
  return { name: 'wire', open: (signal) => openSession(options, signal) };
}
