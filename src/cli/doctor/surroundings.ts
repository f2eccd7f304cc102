import { randomUUID } from 'node:crypto';
import { type AclEntry, PERMISSION_LETTERS } from '../../driver.js';
import type { Host } from '../../election/host.js';
import { systemClock } from '../../lease/clock.js';
import type { Acl } from '../../zookeeper/acl.js';
import { parseConnectString, type ServerAddress } from '../../zookeeper/servers.js';
import { type WireDriver, wireDriver } from '../../zookeeper/wire/driver.js';
import type { ConnectionValues } from '../connection.js';
import { connectOptions } from '../connection.js';
import type { Context } from '../context.js';

/** What looking at an ensemble takes, made of the common options. */
export interface Surroundings {
  readonly servers: readonly ServerAddress[];
  readonly root: string;
  readonly sessionTimeoutMs: number;
  readonly tls: boolean;
  readonly host: Host;
  /** Our own driver, whichever one workers use: it shows ACLs, and needs no compiler. */
  driverOf(servers: readonly ServerAddress[], connectTimeoutMs: number): WireDriver;
}

/** @throws {UsageError} {@link InvalidOptionError} */
export function surroundings(context: Context, options: ConnectionValues): Surroundings {
  const { servers, chroot } = parseConnectString(options.servers, '--servers');
  const { auth, tls } = connectOptions(context, options);
  const sessionTimeoutMs = options['session-timeout'];
  return {
    servers,
    root: chroot + options.root,
    sessionTimeoutMs,
    tls: tls !== undefined,
    host: { clock: systemClock, random: Math.random, uuid: randomUUID, logger: context.logger, emit: () => {} },
    driverOf: (some, connectTimeoutMs) => wireDriver({ servers: some, sessionTimeoutMs, connectTimeoutMs, auth, tls }),
  };
}

export function aclLine({ scheme, id, permissions }: Acl): AclEntry {
  const held = Object.entries(PERMISSION_LETTERS).filter(([, bit]) => (permissions & bit) !== 0);
  return { scheme, id, permissions: held.map(([letter]) => letter).join('') };
}
