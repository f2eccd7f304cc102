import type { IncomingMessage } from 'node:http';
import { Problem } from './problem.js';
import { Secret } from './secret.js';

export interface AccessOptions {
  /** Null: nobody has to show one. */
  readonly token: string | null;
  /** Names that the Host header may give, without a port; null: any, for a Unix socket or where the token protects. */
  readonly hosts: ReadonlySet<string> | null;
}

/** Anybody may know whether the process works; and the page holds nothing, it asks for the token itself. */
const OPEN: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/']);

/** Who may ask. A page of another site, be its name bound to our address, is nobody of ours. */
export class Access {
  readonly #hosts: ReadonlySet<string> | null;
  readonly #token: Secret | null;

  constructor({ token, hosts }: AccessOptions) {
    this.#hosts = hosts;
    this.#token = token === null ? null : new Secret(token);
  }

  /** @throws {Problem} 403 or 401 */
  check(request: IncomingMessage, path: string): void {
    this.#checkHost(request);
    if (this.#token === null || OPEN.has(path)) return;
    const shown = /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (this.#token.matches(shown)) return;
    throw new Problem(401, 'unauthorized', 'this sidecar needs a token: send "Authorization: Bearer <token>"', {
      headers: { 'www-authenticate': 'Bearer realm="tenure"' },
    });
  }

  #checkHost({ headers }: IncomingMessage): void {
    const { host = '', origin } = headers;
    if (this.#hosts !== null && !this.#hosts.has(hostname(host))) {
      throw new Problem(
        403,
        'host_refused',
        `the Host header ${JSON.stringify(host.slice(0, 200))} is none of ${[...this.#hosts].join(', ')}: --allow-host adds one`,
      );
    }
    // Of browsers only: our own page, or nobody.
    const foreign = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
    const site = headers['sec-fetch-site'];
    const crossSite = site !== undefined && site !== 'same-origin' && site !== 'none';
    const opensPage = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    if (foreign || (crossSite && !opensPage)) {
      throw new Problem(403, 'origin_refused', `a page of ${origin ?? 'another site'} may not ask here`);
    }
  }
}

/** Without the port. */
function hostname(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}
