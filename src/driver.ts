import { checkKeys, oneOf, shown } from './election/checks.js';
import type { Logger } from './election/host.js';
import type { Driver } from './election/port.js';
import { DriverUnavailableError, InvalidOptionError } from './errors.js';
import { type Acl, PERMISSIONS } from './zookeeper/acl.js';
import { type NativeDriverOptions, nativeDriver } from './zookeeper/native/driver.js';
import { wireDriver } from './zookeeper/wire/driver.js';
import type { TlsOptions } from './zookeeper/wire/tls.js';

/** Which driver serves, and what the wire driver alone can do, or does better. */
export interface DriverOptions {
  /**
   * Who speaks to ZooKeeper. `native`: the npm package `zookeeper`, the official C client. `wire`: Tenure's own code, which
   * needs no compiler and can do TLS, ACLs and transactions. Default `native`; where that package can't be loaded, `wire`
   * serves, and that is said in a warning: ask for either by name to have none. The environment variable `TENURE_DRIVER` has
   * the same effect where the option is left out.
   */
  readonly driver?: 'native' | 'wire';
  /** Connects by TLS, to the servers' `secureClientPort`: `{}` trusts whom Node.js trusts. Needs `driver: 'wire'`. Default: plain TCP. */
  readonly tls?: TlsOptions;
  /**
   * Who may do what to the znodes that are created. `[{ scheme: 'auth', id: '', permissions: 'cdrwa' }]` keeps them to those
   * who present the same credentials (`auth`, or a certificate). Needs a `driver` by name: `wire` creates them closed; `native`
   * closes them a moment after their creation, and refuses an ephemeral one that somebody has touched in between. Default:
   * everybody may do everything.
   */
  readonly acl?: readonly AclEntry[];
}

/** One line of an ACL, as `setAcl` of `zkCli.sh` takes it: `digest:user:hash:cdrwa` in parts. */
export interface AclEntry {
  /** `world`, `auth`, `digest`, `ip`, `x509`, … */
  readonly scheme: string;
  /** Whom the scheme means: `anyone` for `world`, empty for `auth`. */
  readonly id: string;
  /** Letters: create, delete, read, write, admin. */
  readonly permissions: string;
}

/** Checked. Undefined: native if it can be had. */
export interface DriverChoice {
  readonly driver: 'native' | 'wire' | undefined;
  readonly tls: TlsOptions | undefined;
  readonly acl: readonly Acl[] | undefined;
}

const TLS_KEYS = [
  'caFile',
  'certFile',
  'keyFile',
  'passphrase',
  'serverName',
  'minVersion',
] as const satisfies (keyof TlsOptions)[];

/** @throws {InvalidOptionError} */
export function driverChoice({ driver: asked, tls, acl }: DriverOptions, environment = process.env): DriverChoice {
  const preset = environment['TENURE_DRIVER'] || undefined;
  oneOf('driver', asked, DRIVERS);
  oneOf('TENURE_DRIVER', preset, DRIVERS);
  const driver = asked ?? (preset as DriverChoice['driver']);
  if (tls !== undefined && driver !== 'wire') {
    throw new InvalidOptionError('tls', `tls needs driver: 'wire', the driver here is ${shown(driver ?? 'native')}`);
  }
  if (acl !== undefined && driver === undefined) {
    throw new InvalidOptionError(
      'acl',
      "acl needs a driver by name: driver: 'wire' creates znodes closed; driver: 'native' closes them right after",
    );
  }
  if (tls !== undefined) checkTls(tls);
  return { driver, tls, acl: acl === undefined ? undefined : parseAcl(acl) };
}

function checkTls(tls: TlsOptions): void {
  checkKeys('tls', tls, TLS_KEYS);
  oneOf('tls.minVersion', tls.minVersion, ['TLSv1.2', 'TLSv1.3']);
  for (const key of ['caFile', 'certFile', 'keyFile', 'serverName', 'passphrase'] as const) {
    const value = tls[key];
    if (value === undefined || (typeof value === 'string' && value !== '')) continue;
    throw new InvalidOptionError(`tls.${key}`, `tls.${key} must be text that isn't empty`);
  }
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined)) {
    const [given, missing] = tls.certFile === undefined ? ['keyFile', 'certFile'] : ['certFile', 'keyFile'];
    throw new InvalidOptionError(
      `tls.${missing}`,
      `tls.${given} is given without tls.${missing}: a certificate needs its key`,
    );
  }
}

const DRIVERS: readonly unknown[] = ['native', 'wire'];

/** In the order in which `zkCli.sh` shows them. */
export const PERMISSION_LETTERS: Readonly<Record<string, number>> = {
  c: PERMISSIONS.create,
  d: PERMISSIONS.delete,
  r: PERMISSIONS.read,
  w: PERMISSIONS.write,
  a: PERMISSIONS.admin,
};

function parseAcl(acl: readonly AclEntry[]): Acl[] {
  const form = "acl must be a list such as [{ scheme: 'auth', id: '', permissions: 'cdrwa' }]";
  if (!Array.isArray(acl) || acl.length === 0) throw new InvalidOptionError('acl', `${form}, not ${shown(acl)}`);
  return acl.map((entry) => {
    checkKeys('acl', entry, ['scheme', 'id', 'permissions']);
    const { scheme, id, permissions } = entry;
    if (typeof scheme !== 'string' || scheme === '' || typeof id !== 'string' || typeof permissions !== 'string') {
      throw new InvalidOptionError('acl', `${form}: each of the three is text`);
    }
    if (!/^[cdrwa]+$/.test(permissions) || new Set(permissions).size !== permissions.length) {
      throw new InvalidOptionError(
        'acl',
        `acl: permissions ${shown(permissions)} must be letters of "cdrwa", each once`,
      );
    }
    return {
      scheme,
      id,
      permissions: [...permissions].reduce((sum, letter) => sum + (PERMISSION_LETTERS[letter] ?? 0), 0),
    };
  });
}

/**
 * The driver that was asked for; native, and else wire, when none was.
 *
 * @throws {DriverUnavailableError} only when native was asked for by name
 */
export async function openDriver(
  { driver, tls, acl }: DriverChoice,
  options: NativeDriverOptions,
  logger: Pick<Logger, 'warn'>,
): Promise<Driver> {
  if (driver === 'wire') return wireDriver({ ...options, tls, acl });
  try {
    return await nativeDriver({ ...options, acl });
  } catch (error) {
    if (driver === 'native' || !(error instanceof DriverUnavailableError)) throw error;
    const message =
      `the driver is 'wire', as the native one can't be loaded (${error.message}). ` +
      "Ask for wire by name to hear no more of it: driver: 'wire', or TENURE_DRIVER=wire";
    logger.warn({ driver: 'wire' }, message);
    process.emitWarning(message, { code: 'TENURE_WIRE_DRIVER' });
    return wireDriver(options);
  }
}
