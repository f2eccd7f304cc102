import { CoordinatorError } from '../errors.js';
import { type Backoff, backoffMs } from '../lease/backoff.js';
import type { Host } from './host.js';
import { isKind } from './nodes.js';
import type { Session } from './port.js';
import { abortable } from './waiting.js';

const RETRY: Backoff = { baseMs: 50, capMs: 2_000 };

export function sessionLives(session: Session): boolean {
  return session.state === 'connected' || session.state === 'disconnected';
}

/**
 * Repeats an operation whose reply was lost until the server answers it, or the session is dead.
 * For operations that may be applied twice without harm.
 *
 * @throws {CoordinatorError} the server's refusal; or why the session is dead
 * @throws `signal.reason` when aborted between two attempts
 */
export async function untilAnswered<T>(
  host: Host,
  session: Session,
  operation: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await operation();
    } catch (error) {
      const repeat = error instanceof CoordinatorError && error.retriable && sessionLives(session);
      if (!repeat) throw error;
      // What is refused for good by a code that has no word here would be asked for ever, and nobody know why.
      if (error.kind === 'unknown' && attempt === 0) host.logger.warn({ err: error }, 'refused; asked for again');
      await reconnectedOr(session, host, backoffMs(RETRY, attempt, host.random), signal);
    }
  }
}

/** Returns when the session changes its state, or after `ms`: whichever comes first. */
function reconnectedOr(session: Session, host: Host, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return abortable<void>(signal, (resolve) => {
    const stopTimer = host.clock.after(ms, resolve);
    const stopListening = session.onState(() => resolve());
    return () => {
      stopTimer();
      stopListening();
    };
  });
}

/** Deletes a node until that is confirmed or its session is dead, and it with the session. Never rejects. */
export async function removeSurely(host: Host, session: Session, path: string): Promise<void> {
  try {
    await untilAnswered(host, session, () => session.remove(path));
  } catch (error) {
    if (isKind(error, 'no_node') || !sessionLives(session)) return;
    host.logger.error({ path, err: error }, 'a candidate node could not be deleted; it stays until the session ends');
  }
}
