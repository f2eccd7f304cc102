import { createHash } from 'node:crypto';
import type { Credential } from '../../zookeeper/session-options.js';
import { UsageError } from '../usage-error.js';

/** Somebody, as ACLs name them. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** How `digest` writes down who somebody is: a name, and SHA-1 of name and password in base64. */
const DIGEST_ID = /^[^:]+:[A-Za-z0-9+/]{27}=$/;

/**
 * What `--worker` and `--admin` say: `scheme:id`, or `auth:` for whoever runs the command.
 *
 * @throws {UsageError} which doesn't show what may be a password
 */
export function parseIdentity(option: string, text: string, own: readonly Identity[]): readonly Identity[] {
  const [, scheme = '', id = ''] = /^([a-z0-9]+):(.*)$/i.exec(text) ?? [];
  if (scheme === '') throw new UsageError(`${option} takes scheme:id, such as x509:CN=worker or digest:name:hash`);
  if (scheme === 'auth') {
    if (id === '') return own;
    throw new UsageError(`${option} auth: takes nothing behind the colon: it means the credentials of this command`);
  }
  if (scheme === 'world')
    throw new UsageError(`${option} ${scheme}:${id} is everybody: then there is nothing to close`);
  if (id === '') throw new UsageError(`${option} ${scheme}: lacks whom it means, as in ${scheme}:ID`);
  if (scheme === 'digest' && !DIGEST_ID.test(id)) {
    throw new UsageError(
      `${option} digest: takes a name and a hash, never a password, which everybody could see here`,
      'give the password in a file: --worker-auth-file, with a line such as digest:name:password',
    );
  }
  return [{ scheme, id }];
}

/**
 * Whom a server will take somebody with this credential for.
 *
 * @throws {UsageError} for a scheme whose identities only the server knows
 */
export function identityOf({ scheme, credential }: Credential): Identity {
  if (scheme !== 'digest') {
    throw new UsageError(
      `whom the scheme ${JSON.stringify(scheme)} means can't be told from a credential: use --worker`,
    );
  }
  const name = credential.split(':', 1)[0] ?? '';
  return { scheme, id: `${name}:${createHash('sha1').update(credential).digest('base64')}` };
}

/** Each once. */
export function distinct(identities: readonly Identity[]): Identity[] {
  return [...new Map(identities.map((identity) => [`${identity.scheme}:${identity.id}`, identity])).values()];
}
