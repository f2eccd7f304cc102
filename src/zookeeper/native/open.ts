import type { Session } from '../../election/port.js';
import { AuthenticationError, ConnectTimeoutError, CoordinatorError } from '../../errors.js';
import { anyOf } from '../../signals.js';
import { resolveServers } from '../resolve.js';
import { formatServers, type ServerAddress } from '../servers.js';
import type { HandleFactory } from './addon.js';
import { diagnose } from './diagnosis.js';
import { INHERITED_SOCKETS_WARNING, leavesInheritedSocket } from './inheritance.js';
import type { NativeDriverOptions } from './options.js';
import { Relocation } from './relocation.js';
import { reachable } from './routes.js';
import { NativeSession } from './session.js';

/**
 * Opens a session: resolves the names, connects, presents the credentials. Ends what it has begun when it fails.
 *
 * @throws NameResolutionError, AuthenticationError, ConnectTimeoutError, or `signal.reason`
 */
export async function openSession(
  create: HandleFactory,
  options: NativeDriverOptions,
  signal?: AbortSignal,
): Promise<Session> {
  signal?.throwIfAborted();
  const deadline = new AbortController();
  const late = new ConnectTimeoutError(
    `no session with ${formatServers(options.servers)} within ${options.connectTimeoutMs} ms: ` +
      'check the addresses, that the servers run, and that a majority of them is up',
  );
  const timer = setTimeout(() => deadline.abort(late), options.connectTimeoutMs);
  const stop = anyOf([deadline.signal, signal]);
  let resolved: readonly ServerAddress[] | null = null;
  try {
    const resolve = async (signal?: AbortSignal): Promise<readonly ServerAddress[]> => {
      // Half of the time at most, so that a resolver that hangs is reported as what it is.
      const timeoutMs = options.connectTimeoutMs / 2;
      return reachable(await resolveServers(options.servers, { timeoutMs, signal, lookup: options.lookup }));
    };
    const addresses = await resolve(stop);
    resolved = addresses;
    const session = await connect(create, addresses, options, stop);
    try {
      await authenticate(session, options, stop);
      stop.throwIfAborted();
    } catch (error) {
      await session.close();
      throw error;
    }
    Relocation.watch(session, options.servers, addresses, resolve);
    return session;
  } catch (error) {
    if (error !== late || resolved === null) throw error;
    throw new ConnectTimeoutError(`${late.message}; now ${await diagnose(resolved)}`);
  } finally {
    clearTimeout(timer);
  }
}

async function connect(
  create: HandleFactory,
  addresses: readonly ServerAddress[],
  options: NativeDriverOptions,
  stop: AbortSignal,
): Promise<NativeSession> {
  const session = new NativeSession(create, options.auth ?? [], options.acl);
  try {
    start(session, addresses, options);
    await untilConnected(session, stop);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

let inspected = false;

/** Starts the session, and has a look at the first socket of the process that the addon opens. */
function start(session: NativeSession, addresses: readonly ServerAddress[], options: NativeDriverOptions): void {
  if (inspected) {
    session.start(addresses, options.sessionTimeoutMs);
    return;
  }
  inspected = true;
  const inherited = leavesInheritedSocket(() => session.start(addresses, options.sessionTimeoutMs));
  if (!inherited) return;
  options.onWarning?.(INHERITED_SOCKETS_WARNING);
  process.emitWarning(INHERITED_SOCKETS_WARNING, { code: 'TENURE_INHERITED_SOCKETS' });
}

/** Rejects with the signal's reason, or when the session ends instead. */
function untilConnected(session: NativeSession, stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(stop.reason);
    };
    const check = (): void => {
      if (session.state === 'disconnected') return;
      cancel();
      stop.removeEventListener('abort', abort);
      if (session.state === 'connected') resolve();
      else reject(new CoordinatorError('session_expired', 'open', ''));
    };
    const cancel = session.onState(check);
    stop.addEventListener('abort', abort, { once: true });
    if (stop.aborted) abort();
    else check();
  });
}

async function authenticate(session: NativeSession, options: NativeDriverOptions, stop: AbortSignal): Promise<void> {
  const { auth = [] } = options;
  if (auth.length === 0) return;
  // Only an operation behind it makes the client send the credentials; a refusal ends the session before its reply.
  let sent: Promise<unknown>[] = auth.map(({ scheme, credential }) => session.authenticate(scheme, credential));
  for (;;) {
    try {
      await untilConnected(session, stop);
      await orStop(Promise.all([...sent, session.stat('/')]), stop);
      return;
    } catch (error) {
      if (session.refusedCredentials || (error instanceof CoordinatorError && error.kind === 'auth_failed')) {
        throw new AuthenticationError(
          `the ensemble refused the credentials (${auth.map(({ scheme }) => `scheme ${JSON.stringify(scheme)}`).join(', ')}): ` +
            'check the scheme and that the servers have a provider for it',
          { cause: error },
        );
      }
      if (!(error instanceof CoordinatorError && error.retriable) || session.state === 'expired') throw error;
      // The client repeats the credentials by itself when it reconnects, ahead of everything else.
      sent = [];
    }
  }
}

function orStop<T>(promise: Promise<T>, stop: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(stop.reason);
    if (stop.aborted) abort();
    stop.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => stop.removeEventListener('abort', abort));
  });
}
