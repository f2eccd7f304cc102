import { type Ending, invoke } from '../../support/invocation.js';

/** Runs `tenure` as Ada with these words to its end, in a process of its own that has no terminal. */
export function tenure(servers: string, words: readonly string[]): Promise<Ending> {
  return invoke(words, { TENURE_SERVERS: servers, TENURE_BY: 'ada' });
}
