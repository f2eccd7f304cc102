import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { StaleTokenError } from '../errors.js';
import type { Accepted, FencedTerm, Guard } from '../fencing/guard.js';
import { presenter } from '../fencing/presenter.js';
import { EXIT } from './exit-codes.js';
import { CommandFailure, UsageError } from './usage-error.js';

/** The fence of one resource, as an operator reaches it. */
export interface Fence {
  /** Without user and password. */
  readonly shown: string;
  readonly resource: string;
  highest(): Promise<Accepted | null>;
  /** Has it accept a token. @throws {StaleTokenError} when it has accepted a higher one */
  accept(term: FencedTerm): Promise<void>;
  close(): Promise<void>;
}

/** For `--help`: what {@link openFence} takes. */
export const FENCE_URL_HELP =
  'postgres://…#NAME, redis://…#NAME, http://…#NAME or a path of a directory, as in /srv/reports#NAME. NAME is what the guard calls the resource';

/** How long an operator waits for a resource, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Opens the fence that a URL names. Its client is loaded only now: who uses no PostgreSQL needs no `pg`.
 *
 * @throws {UsageError} {@link CommandFailure} where the client isn't installed
 */
export async function openFence(text: string): Promise<Fence> {
  const hash = text.lastIndexOf('#');
  const resource = hash === -1 ? '' : decodeURIComponent(text.slice(hash + 1));
  if (resource === '') {
    throw new UsageError(`${redacted(text)}: which resource is it about? Add its name, as in ${redacted(text)}#ledger`);
  }
  const address = text.slice(0, hash);
  const scheme = /^([a-z][a-z+]*):/i.exec(address)?.[1]?.toLowerCase();
  const shown = redacted(address);
  switch (scheme) {
    case 'postgres':
    case 'postgresql':
      return await postgresFence(address, shown, resource);
    case 'redis':
    case 'rediss':
      return await redisFence(address, shown, resource);
    case 'http':
    case 'https':
      return await httpFence(address, shown, resource);
    case 'file':
      return await fileFence(fileURLToPath(address), shown, resource);
    case undefined:
      return await fileFence(address, shown, resource);
    default:
      throw new UsageError(`${shown}: there is no guard for ${scheme}:`, `what there is: ${FENCE_URL_HELP}`);
  }
}

/** Asks the fence that a URL names, and closes it again. */
export async function askFence(
  url: string,
): Promise<Pick<Fence, 'shown' | 'resource'> & { accepted: Accepted | null }> {
  const fence = await openFence(url);
  try {
    return { shown: fence.shown, resource: fence.resource, accepted: await fence.highest() };
  } finally {
    await fence.close();
  }
}

/** Raises a fence above an old token. @returns the highest token that it has accepted then */
export async function raiseFence(fence: Fence, to: bigint, holder: string): Promise<Accepted> {
  try {
    await fence.accept(presenter(to, { holder, timeoutMs: TIMEOUT_MS }));
    return { token: to, holder };
  } catch (error) {
    if (!(error instanceof StaleTokenError)) throw error;
    // It is there already, or further.
    return { token: error.highest, holder: error.holder };
  }
}

async function postgresFence(address: string, shown: string, resource: string): Promise<Fence> {
  const url = new URL(address);
  const schema = taken(url, 'schema');
  const { postgresGuard } = await import('../fencing/postgres.js');
  const pg = await installed<typeof import('pg')>('pg');
  if (pg === undefined) throw missing('pg', shown);
  const connection = new pg.default.Client({ connectionString: url.href, connectionTimeoutMillis: TIMEOUT_MS });
  // Without a listener a connection that is lost later would end the process.
  connection.on('error', () => {});
  await reached(shown, () => connection.connect());
  const guard = postgresGuard({ client: connection }, schema === undefined ? {} : { schema });
  return fenceOf(guard, shown, resource, () => connection.end());
}

async function redisFence(address: string, shown: string, resource: string): Promise<Fence> {
  const url = new URL(address);
  const prefix = taken(url, 'prefix');
  const { redisGuard } = await import('../fencing/redis.js');
  const options = prefix === undefined ? {} : { prefix };
  const io = await installed<typeof import('ioredis')>('ioredis');
  if (io !== undefined) {
    const once = { lazyConnect: true, connectTimeout: TIMEOUT_MS, retryStrategy: () => null, maxRetriesPerRequest: 0 };
    const connection = new io.Redis(url.href, once);
    connection.on('error', () => {});
    await reached(shown, () => connection.connect());
    return fenceOf(redisGuard(connection, options), shown, resource, async () => connection.disconnect());
  }
  const node = await installed<typeof import('redis')>('redis');
  if (node === undefined) throw missing('ioredis or redis', shown);
  const connection = node.createClient({
    url: url.href,
    socket: { connectTimeout: TIMEOUT_MS, reconnectStrategy: false },
  });
  connection.on('error', () => {});
  await reached(shown, () => connection.connect());
  return fenceOf(redisGuard(connection, options), shown, resource, async () => connection.destroy());
}

async function fileFence(directory: string, shown: string, resource: string): Promise<Fence> {
  const { fileGuard } = await import('../fencing/file.js');
  return fenceOf(fileGuard({ directory }), shown, resource, async () => {});
}

/** A service tells its highest token only to somebody whom it refuses: so the lowest of all tokens is shown to it. */
async function httpFence(address: string, shown: string, resource: string): Promise<Fence> {
  const { fencedFetch } = await import('../fencing/http.js');
  const accept = async (term: FencedTerm): Promise<void> => {
    const response = await reached(shown, () => fencedFetch(term, resource)(address, { redirect: 'manual' }));
    await response.body?.cancel();
    if (response.status < 300) return;
    throw new CommandFailure(
      EXIT.failure,
      'FENCE_UNREACHABLE',
      `${shown} answered ${response.status} to GET: a URL behind the guard is needed, that answers 200`,
    );
  };
  const highest = async (): Promise<Accepted | null> => {
    try {
      await accept(presenter(1n, { timeoutMs: TIMEOUT_MS }));
      return null;
    } catch (error) {
      if (!(error instanceof StaleTokenError)) throw error;
      return { token: error.highest, holder: error.holder };
    }
  };
  return { shown, resource, highest, accept, close: async () => {} };
}

function fenceOf(guard: Guard<unknown>, shown: string, resource: string, close: () => Promise<void>): Fence {
  return {
    shown,
    resource,
    highest: () => guard.highest(resource),
    accept: (term) => guard.check(term, resource),
    close,
  };
}

/** A package that is installed beside Tenure, or where the command is run; undefined where it isn't. */
async function installed<T>(name: string): Promise<T | undefined> {
  try {
    return (await import(name)) as T;
  } catch {
    try {
      const here = createRequire(`${process.cwd()}/`).resolve(name);
      return (await import(pathToFileURL(here).href)) as T;
    } catch {
      return undefined;
    }
  }
}

function missing(name: string, shown: string): CommandFailure {
  const [first = name] = name.split(' ');
  return new CommandFailure(
    EXIT.failure,
    'CLIENT_MISSING',
    `${shown} needs the package ${name}, which is installed neither beside tenure nor in ${process.cwd()}: npm install ${first}`,
  );
}

async function reached<T>(shown: string, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof StaleTokenError) throw error;
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    throw new CommandFailure(EXIT.failure, 'FENCE_UNREACHABLE', `${shown} can't be reached: ${why}`, { cause: error });
  }
}

/** A parameter of ours in the query, which is then no longer in it. */
function taken(url: URL, name: string): string | undefined {
  const value = url.searchParams.get(name) ?? undefined;
  url.searchParams.delete(name);
  return value;
}

/** What stands between `//` and `@` may be a password. */
function redacted(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//…@');
}
