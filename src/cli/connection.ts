import { readFileSync, statSync } from 'node:fs';
import type { AclEntry } from '../driver.js';
import type { Logger } from '../election/host.js';
import type { ConnectOptions } from '../options.js';
import { connect, type Tenure } from '../tenure.js';
import type { Credential } from '../zookeeper/session-options.js';
import type { TlsOptions } from '../zookeeper/wire/tls.js';
import type { Values } from './command.js';
import type { Context } from './context.js';
import type { CONNECTION_OPTIONS } from './options.js';
import { UsageError } from './usage-error.js';

export type ConnectionValues = Values<typeof CONNECTION_OPTIONS>;

/**
 * What the common options say, for `connect()`.
 *
 * @throws {UsageError}
 */
export function connectOptions(context: Context, options: ConnectionValues): ConnectOptions {
  const { driver, acl } = options;
  const tls = tlsOptions(context.env, options);
  return {
    servers: options.servers,
    root: options.root,
    sessionTimeoutMs: options['session-timeout'],
    connectTimeoutMs: options['connect-timeout'],
    auth: credentials(context, options['auth-file']),
    // What only the wire driver can do asks for it.
    ...(driver !== undefined ? { driver } : tls !== undefined || acl !== undefined ? { driver: 'wire' as const } : {}),
    ...(tls === undefined ? {} : { tls }),
    ...(acl === undefined ? {} : { acl: parseAcl(acl) }),
    logger: context.logger,
    signal: context.signal,
  };
}

/** Opens the connection that the common options describe, for a command that leads nothing; the caller closes it. */
export function openTenure(context: Context, options: ConnectionValues): Promise<Tenure> {
  return connect({ ...connectOptions(context, options), lifeline: false, logger: forLookers(context.logger) });
}

/** Which timeout was granted, and which driver serves, matters to whoever leads; who only looks is not to be bothered with it. */
function forLookers(logger: Logger): Logger {
  const warn = (fields: object, message: string) => {
    if ('requestedMs' in fields || 'driver' in fields) logger.debug(fields, message);
    else logger.warn(fields, message);
  };
  return { debug: logger.debug, info: logger.info, error: logger.error, warn };
}

function tlsOptions(env: NodeJS.ProcessEnv, options: ConnectionValues): TlsOptions | undefined {
  const files = { caFile: options['tls-ca'], certFile: options['tls-cert'], keyFile: options['tls-key'] };
  const given = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (!options.tls && given.length === 0) return undefined;
  const passphrase = env['TENURE_TLS_PASSPHRASE'];
  return { ...Object.fromEntries(given), ...(passphrase ? { passphrase } : {}) };
}

/** As `zkCli.sh` writes it; but an id may hold commas, as the subject of a certificate does. */
function parseAcl(text: string): AclEntry[] {
  const entries: AclEntry[] = [];
  for (let rest = text; rest !== ''; ) {
    const parts = /^([a-z]\w*):(.*?):([cdrwa]+)(?:,(?=[a-z]\w*:)|$)/i.exec(rest);
    if (parts === null) {
      throw new UsageError(`--acl: ${JSON.stringify(rest)} must be scheme:id:permissions, such as auth::cdrwa`);
    }
    const [whole, scheme = '', id = '', permissions = ''] = parts;
    entries.push({ scheme, id, permissions });
    rest = rest.slice(whole.length);
  }
  return entries;
}

/** From the file, else from TENURE_AUTH. @throws {UsageError} which never shows what it read */
export function credentials(context: Context, file: string | undefined, option = '--auth-file'): readonly Credential[] {
  if (file === undefined) {
    const own = context.env['TENURE_AUTH'];
    return own === undefined || own === '' ? [] : [parseCredential(own, 'TENURE_AUTH')];
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
      context.logger.warn({ file }, 'others may read the file with the credentials: run chmod 600 on it');
    }
  } catch (error) {
    throw new UsageError(`${option} ${JSON.stringify(file)} can't be read: ${(error as Error).message}`);
  }
  const lines = text.split(/\r?\n/).map((line, index) => ({ line: line.trim(), where: `${file}, line ${index + 1}` }));
  return lines
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
    .map(({ line, where }) => parseCredential(line, where));
}

function parseCredential(text: string, where: string): Credential {
  const colon = text.indexOf(':');
  if (colon < 1) throw new UsageError(`${where}: a credential is scheme:secret, such as digest:user:password`);
  return { scheme: text.slice(0, colon), credential: text.slice(colon + 1) };
}
