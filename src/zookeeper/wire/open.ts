import { AuthenticationError, ConnectTimeoutError, CoordinatorError, UntrustedError } from '../../errors.js';
import { formatServers } from '../servers.js';
import type { WireDriverOptions } from './options.js';
import { WireSession } from './session.js';

/**
 * Opens a session: resolves the names, connects, presents the credentials. Ends what it has begun when it fails.
 *
 * @throws NameResolutionError, AuthenticationError, UntrustedError, ConnectTimeoutError, or `signal.reason`
 */
export async function openSession(options: WireDriverOptions, signal?: AbortSignal): Promise<WireSession> {
  signal?.throwIfAborted();
  const session = new WireSession(options);
  const { connectTimeoutMs, servers, auth = [] } = options;
  try {
    await orStopped(
      async () => {
        await session.start();
        await untilConnected(session, options);
        if (auth.length > 0) await authenticated(session, options);
      },
      signal,
      connectTimeoutMs,
      () => {
        const { failures } = session;
        return new ConnectTimeoutError(
          `no session with ${formatServers(servers)} within ${connectTimeoutMs} ms: check the addresses, that the ` +
            `servers run, and that a majority of them is up${failures === '' ? '' : `; now ${failures}`}`,
        );
      },
    );
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Rejects with the signal's reason, or with `late()` when `ms` are over. */
async function orStopped(
  work: () => Promise<void>,
  signal: AbortSignal | undefined,
  ms: number,
  late: () => Error,
): Promise<void> {
  let abort: () => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      abort = () => reject(signal?.reason);
      timer = setTimeout(() => reject(late()), ms);
      signal?.addEventListener('abort', abort);
      work().then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function untilConnected(session: WireSession, options: WireDriverOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = (): void => {
      if (session.state === 'disconnected') return;
      cancel();
      if (session.state === 'connected') resolve();
      else reject(whyOver(session, options));
    };
    const cancel = session.onState(check);
    check();
  });
}

/** The replies to the credentials come ahead of that to any question. */
async function authenticated(session: WireSession, options: WireDriverOptions): Promise<void> {
  for (;;) {
    try {
      await session.stat('/');
      return;
    } catch (error) {
      if (!(error instanceof CoordinatorError)) throw error;
      if (session.state === 'expired') throw whyOver(session, options, error);
      // Whether we may see the root is nothing to us.
      if (!error.retriable) return;
      await untilConnected(session, options);
    }
  }
}

function whyOver(session: WireSession, { auth = [], servers }: WireDriverOptions, cause?: unknown): Error {
  if (session.end === 'auth_failed') {
    return new AuthenticationError(
      `the ensemble refused the credentials (${auth.map(({ scheme }) => `scheme ${JSON.stringify(scheme)}`).join(', ')}): ` +
        'check the scheme and that the servers have a provider for it',
      { cause },
    );
  }
  if (session.end === 'untrusted') {
    return new UntrustedError(
      `no connection with ${formatServers(servers)} by TLS (${session.failures}): check caFile, serverName, certFile and ` +
        'keyFile, and that this is the secureClientPort',
    );
  }
  return new CoordinatorError('session_expired', 'open', '');
}
