import type { Session, SessionLifeline } from '../election/port.js';
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
export type Reach = Pick<SessionCredentials, 'servers' | 'auth'>;

/** Null where no helper can be started; `warn` is told why. Call it before the driver connects: see {@link Lifeline}. */
export function connectionLifeline(reach: Reach, warn: (message: string) => void): ConnectionLifeline | null {
  const lifeline = Lifeline.acquire(warn);
  if (lifeline === null) return null;
  return {
    session: ({ id, password, timeoutMs }) =>
      password === undefined ? null : lifeline.session({ id, password, timeoutMs, ...reach }),
    release: () => lifeline.release(warn),
  };
}
