import type { Term } from '../index.js';
import { monotonicMs } from './monotonic.js';

/** How often a leader tries whether it may act, in milliseconds. */
const EVERY_MS = 2;

/**
 * Asks the term again and again until it is over, and tells of each time that it held its lease or let `assert()` pass. That
 * is more than a worker may do, which writes nothing while it is suspect: the second half of a lease is for nobody to use, and
 * is nobody else's either.
 */
export function actAsLongAsAllowed(term: Term, acted: (at: number) => void): () => void {
  const attempt = (): void => {
    const at = monotonicMs();
    if (term.remainingMs() > 0 || passes(term)) acted(at);
    if (term.state === 'lost') stop();
  };
  const timer = setInterval(attempt, EVERY_MS);
  const stop = (): void => clearInterval(timer);
  attempt();
  return stop;
}

function passes(term: Term): boolean {
  try {
    term.assert();
    return true;
  } catch {
    return false;
  }
}
