/**
 * A candidate by Tenure; README.md beside this folder has the protocol.
 *
 * candidate.ts SERVERS PATH ID SESSION_TIMEOUT_MS RECIPE
 *
 * RECIPE: `own` (PATH is the queue of an election below /tenure); or the word of those whose queue PATH is: `lock-`, `latch-`,
 * `__lock__`.
 */
import { createInterface } from 'node:readline';
import { connect, type ElectionOptions, formatToken, type Term } from '../../../src/index.js';
import { actAsLongAsAllowed } from '../../../src/verify/acts.js';
import { monotonicMs } from '../../../src/verify/monotonic.js';

const [servers = '', path = '', id = '', timeoutMs = '', recipe = ''] = process.argv.slice(2);

const say = (event: string, fields: object = {}): void => {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
};

/** `/tenure/<election>/queue` is our own; of a queue elsewhere the election has its path for a name. */
const election = path.replace(/\/queue$/, '').replace(recipe === 'own' ? /^\/tenure\// : /^\//, '');
const options: ElectionOptions = {
  id,
  ...(recipe === 'own' ? {} : { queuePath: path, nodePrefix: recipe }),
};

const tenure = await connect({ servers, sessionTimeoutMs: Number(timeoutMs) });
let leaving = new AbortController();

/** Leads until it is told to leave or loses. Of a lost term the end is when it last held a lease: it could not act after that. */
function work(term: Term): Promise<void> {
  let lastHeld = 0;
  const stop = actAsLongAsAllowed(term, (at) => {
    lastHeld = at;
  });
  return new Promise((resolve) => {
    const over = (): void => {
      const at = term.state === 'lost' ? lastHeld : monotonicMs();
      say('lost', { at, why: String((term.signal.reason as { reason?: string }).reason) });
      stop();
      resolve();
    };
    say('led', { at: monotonicMs(), token: formatToken(term.token), term: term.number });
    if (term.signal.aborted) over();
    else term.signal.addEventListener('abort', over, { once: true });
  });
}

function join(): void {
  leaving = new AbortController();
  const { signal } = leaving;
  tenure
    .election(election, options)
    .lead(work, { signal })
    .catch((error: Error) => {
      if (!signal.aborted) say('failed', { error: error.message });
    });
}

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'join') join();
  else if (line === 'leave') leaving.abort();
}
await tenure.close();
