import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';

/** How the servers' `secureClientPort` is reached. Files are PEM, and are read again for each connection: replace them as you like. */
export interface TlsOptions {
  /** Who may have signed the servers' certificates. Default: the authorities that Node.js trusts. */
  readonly caFile?: string | undefined;
  /** Our certificate, with those that lead to its authority; `keyFile` then, too. Default: none is shown. */
  readonly certFile?: string | undefined;
  /** The key of `certFile`. */
  readonly keyFile?: string | undefined;
  /** Of the key. */
  readonly passphrase?: string | undefined;
  /** The name that the servers' certificates are made out to. Default: each server's host, as in the connect string. */
  readonly serverName?: string | undefined;
  /** Default `TLSv1.2`. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
}

/** What the files hold now. Rejects when one can't be read. */
export async function readTls(options: TlsOptions): Promise<ConnectionOptions> {
  const read = async (file: string | undefined) => (file === undefined ? undefined : await readFile(file));
  const [ca, cert, key] = await Promise.all([read(options.caFile), read(options.certFile), read(options.keyFile)]);
  return {
    ca,
    cert,
    key,
    passphrase: options.passphrase,
    minVersion: options.minVersion ?? 'TLSv1.2',
    rejectUnauthorized: true,
  };
}

/** Whom we expect to find: a name is sent along, for servers that have several certificates; an address can't be. */
export function expectedPeer(
  options: TlsOptions,
  name: string,
): Pick<ConnectionOptions, 'servername' | 'checkServerIdentity'> {
  const expected = options.serverName ?? name;
  return {
    ...(isIP(expected) === 0 ? { servername: expected } : {}),
    checkServerIdentity: (_host, certificate) => checkServerIdentity(expected, certificate),
  };
}

/** Whether a connection failed because one side doesn't trust the other: trying again is no help. */
export function isDistrust(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && (VERIFICATION.has(code) || /^ERR_(SSL|TLS|OSSL)_/.test(code));
}

const VERIFICATION: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
