import { resolve } from 'node:path';
import type { Session, SessionLifeline } from '../election/port.js';
import type { TlsOptions } from '../zookeeper/wire/tls.js';
import { Lifeline } from './lifeline.js';
import type { SessionCredentials } from './messages.js';

/** One connection's use of its process's lifeline. */
export interface ConnectionLifeline {
  /** Null where the driver keeps the session's password to itself. */
  session(session: Session): SessionLifeline | null;
  /** When the connection is closed, or was never opened. */
  release(): void;
}

/** Where the sessions of a connection are, and what their servers want to be shown. */
export interface Whereabouts extends Pick<SessionCredentials, 'servers' | 'auth'> {
  readonly tls: TlsOptions | undefined;
}

/** Null where no helper can be started; `warn` is told why. Call it before the driver connects: see {@link Lifeline}. */
export function connectionLifeline(
  { servers, auth, tls }: Whereabouts,
  warn: (message: string) => void,
): ConnectionLifeline | null {
  const lifeline = Lifeline.acquire(warn);
  if (lifeline === null) return null;
  const reach = { servers, auth, tls: tls === undefined ? null : absolute(tls) };
  return {
    session: ({ id, password, timeoutMs }) =>
      password === undefined ? null : lifeline.session({ id, password, timeoutMs, ...reach }),
    release: () => lifeline.release(warn),
  };
}

/** The helper works in another directory. */
function absolute({ caFile, certFile, keyFile, ...rest }: TlsOptions): TlsOptions {
  const files = Object.entries({ caFile, certFile, keyFile }).filter(([, file]) => file !== undefined);
  return { ...rest, ...Object.fromEntries(files.map(([key, file = '']) => [key, resolve(file)])) };
}
