import { request } from 'node:http';
import { EXIT } from './exit-codes.js';
import { CommandFailure } from './usage-error.js';

/** Where a sidecar listens. */
export type SidecarAddress = { readonly socket: string } | { readonly url: URL };

/** @throws {CommandFailure} when it can't be reached, or refuses */
export async function askSidecar(
  address: SidecarAddress,
  what: { method: string; path: string; body?: object; token: string | null },
  signal: AbortSignal,
): Promise<void> {
  const where = 'socket' in address ? address.socket : address.url.origin;
  const target =
    'socket' in address
      ? { socketPath: address.socket, headers: { host: 'localhost' } }
      : { host: address.url.hostname.replace(/^\[|\]$/g, ''), port: address.url.port || 80, headers: {} };
  const body = what.body === undefined ? undefined : JSON.stringify(what.body);
  const headers = {
    ...target.headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...(what.token === null ? {} : { authorization: `Bearer ${what.token}` }),
  };
  const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const asking = request({ ...target, method: what.method, path: what.path, headers, signal, timeout: 5_000 });
    asking.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    asking.on('timeout', () => asking.destroy(new Error('no answer within 5 s')));
    asking.on('error', reject);
    asking.end(body);
  }).catch((error: unknown) => {
    if (signal.aborted) throw signal.reason;
    throw new CommandFailure(
      EXIT.unreachable,
      'SIDECAR_UNREACHABLE',
      `no sidecar answers at ${where}: ${(error as Error).message}`,
      { cause: error },
    );
  });
  if (answer.status < 300) return;
  const code = answer.status === 401 || answer.status === 403 ? EXIT.denied : EXIT.failure;
  throw new CommandFailure(
    code,
    'SIDECAR_REFUSED',
    `the sidecar at ${where} answered ${answer.status}: ${detail(answer.text)}`,
  );
}

function detail(text: string): string {
  try {
    const { detail: found } = JSON.parse(text) as { detail?: unknown };
    if (typeof found === 'string') return found;
  } catch {
    // No problem document: shown as it is.
  }
  return text.slice(0, 200);
}
