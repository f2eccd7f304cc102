import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A key, and the certificate that goes with it, in PEM files. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** Key and certificate in one file, as ZooKeeper's servers take it. */
  readonly bothFile: string;
}

/** An authority that signs certificates, by openssl, in a folder of its own. */
export class Authority {
  readonly caFile: string;
  readonly #keyFile: string;
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.caFile = join(directory, 'ca.pem');
    this.#keyFile = join(directory, 'ca.key');
  }

  static async make(directory: string): Promise<Authority> {
    mkdirSync(directory, { recursive: true });
    const authority = new Authority(directory);
    const subject = ['-subj', `/CN=authority of ${basename(directory)}`];
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject],
      ...['-keyout', authority.#keyFile, '-out', authority.caFile],
    ]);
    return authority;
  }

  /** `names`: whom it is made out to, as in `DNS:localhost,IP:127.0.0.1`. `days`: negative for one that is over. */
  async sign(name: string, names: string, days = 2): Promise<Certificate> {
    const file = (ending: string) => join(this.#directory, `${name}.${ending}`);
    writeFileSync(file('ext'), `subjectAltName=${names}\n`);
    const request = ['req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`];
    await run('openssl', [...request, '-keyout', file('key'), '-out', file('csr')]);
    await run('openssl', [
      ...['x509', '-req', '-in', file('csr'), '-CA', this.caFile, '-CAkey', this.#keyFile, '-CAcreateserial'],
      ...['-days', String(days), '-extfile', file('ext'), '-out', file('pem')],
    ]);
    const both = readFileSync(file('key'), 'utf8') + readFileSync(file('pem'), 'utf8');
    writeFileSync(file('both.pem'), both);
    return { certFile: file('pem'), keyFile: file('key'), bothFile: file('both.pem') };
  }
}

/** What a server is configured with to listen at `port` by TLS, for clients that this authority has signed. */
export function secureServer(authority: Authority, server: { readonly bothFile: string }, port: number): string[] {
  return [
    'serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory',
    `secureClientPort=${port}`,
    'secureClientPortAddress=127.0.0.1',
    `ssl.keyStore.location=${server.bothFile}`,
    'ssl.keyStore.type=PEM',
    `ssl.trustStore.location=${authority.caFile}`,
    'ssl.trustStore.type=PEM',
    'authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider',
  ];
}
