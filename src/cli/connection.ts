import { readFileSync, statSync } from 'node:fs';
import { connect, type Tenure } from '../tenure.js';
import type { OptionSpecs, Values } from './command.js';
import type { Context } from './context.js';
import type { CONNECTION_OPTIONS } from './options.js';
import { UsageError } from './usage-error.js';

export type ConnectionValues = Values<typeof CONNECTION_OPTIONS & OptionSpecs>;

export interface Credential {
  readonly scheme: string;
  readonly credential: string;
}

/** Opens the connection that the common options describe; the caller closes it. */
export function openTenure(context: Context, options: ConnectionValues): Promise<Tenure> {
  return connect({
    servers: options.servers,
    root: options.root,
    sessionTimeoutMs: options['session-timeout'],
    connectTimeoutMs: options['connect-timeout'],
    auth: credentials(context, options['auth-file']),
    logger: context.logger,
    signal: context.signal,
  });
}

/** From the file, else from TENURE_AUTH. @throws {UsageError} which never shows what it read */
export function credentials(context: Context, file: string | undefined): readonly Credential[] {
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
    throw new UsageError(`--auth-file ${JSON.stringify(file)} can't be read: ${(error as Error).message}`);
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
