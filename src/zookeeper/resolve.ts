import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { NameResolutionError } from '../errors.js';
import { formatServer, formatServers, type ServerAddress } from './servers.js';

/** Resolves one host name to IP literals; rejects when there are none. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export interface ResolveOptions {
  /** Milliseconds after which the names that haven't answered are given up. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** By default the system's resolver (`getaddrinfo` off the event loop): it knows /etc/hosts and search domains. */
  lookup?: Lookup | undefined;
}

/** Where a server listens, and what it was called: its certificate has to be made out to that. */
export interface ResolvedAddress extends ServerAddress {
  readonly name: string;
}

/** Once one name is known, how long the others may hold up the connection. */
const GRACE_MS = 1000;

const systemLookup: Lookup = async (host) => (await dnsLookup(host, { all: true })).map((entry) => entry.address);

/**
 * Resolves all servers at once and returns their addresses, each once, as IP literals in random order, so that clients
 * spread over the ensemble. A name that fails or is late is left out as long as another one is known.
 *
 * @throws NameResolutionError when no name is known: it names each host and its cause
 * @throws `signal.reason` when aborted
 */
export async function resolveServers(
  servers: readonly ServerAddress[],
  { timeoutMs, signal, lookup = systemLookup }: ResolveOptions,
): Promise<ResolvedAddress[]> {
  signal?.throwIfAborted();
  const found = new Map<string, ResolvedAddress>();
  const failures = new Map<string, unknown>();

  await new Promise<void>((resolve, reject) => {
    let pending = servers.length;
    let done = false;
    let grace: NodeJS.Timeout | undefined;
    const end = (): void => {
      done = true;
      clearTimeout(deadline);
      clearTimeout(grace);
      signal?.removeEventListener('abort', abort);
    };
    const finish = (): void => {
      end();
      resolve();
    };
    const abort = (): void => {
      end();
      reject(signal?.reason);
    };
    const deadline = setTimeout(finish, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });

    for (const server of servers) {
      const answer = isIP(server.host) === 0 ? lookup(server.host) : Promise.resolve([server.host]);
      answer
        .then((hosts) => {
          if (hosts.length === 0) throw new Error('no address');
          for (const host of hosts) {
            const address = { host, port: server.port, name: server.host };
            found.set(formatServer(address), address);
          }
          if (!done) grace ??= setTimeout(finish, GRACE_MS);
        })
        .catch((error: unknown) => failures.set(server.host, error))
        .finally(() => {
          pending -= 1;
          if (pending === 0) finish();
        });
    }
  });

  if (found.size === 0) throw unresolved(servers, failures, timeoutMs);
  return shuffle([...found.values()]);
}

function unresolved(
  servers: readonly ServerAddress[],
  failures: ReadonlyMap<string, unknown>,
  timeoutMs: number,
): NameResolutionError {
  const hosts = [...new Set(servers.map((server) => server.host))];
  const reasons = hosts.map((host) => {
    if (!failures.has(host)) return `${host}: no answer within ${timeoutMs} ms`;
    const failure = failures.get(host);
    const code = failure instanceof Error && 'code' in failure ? String(failure.code) : (failure as Error).message;
    return `${host}: ${code}`;
  });
  return new NameResolutionError(
    `none of the servers ${formatServers(servers)} has an address (${reasons.join('; ')})`,
    {
      cause: new AggregateError([...failures.values()], 'name resolution failed'),
    },
  );
}

/** Fisher-Yates, in place. */
function shuffle<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const j = Math.floor(Math.random() * (i + 1));
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}
