import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { TermEvent } from '../election/events.js';
import { type FencedTerm, type FencingObserver, presenter } from '../fencing/index.js';
import { type ConnectOptions, connect, fencingMetrics, StaleTokenError, type Term } from '../index.js';
import { actAsLongAsAllowed } from './acts.js';
import { Counts } from './counts.js';
import type { Ledger } from './ledger.js';
import { monotonicMs, sleep } from './monotonic.js';
import type { Told } from './told.js';

/** What a worker process needs to know. */
export interface WorkerParameters {
  readonly connect: ConnectOptions;
  readonly election: string;
  readonly who: string;
}

/** An act is told of at most this often, in milliseconds. */
const ACT_EVERY_MS = 10;
/** How long after its term a writer that has learnt nothing tries again, in milliseconds. */
const ZOMBIE_MS = [30, 600, 2_500] as const;
const WRITE_EVERY_MS = 40;

type Untimed = Told extends infer T ? (T extends Told ? Omit<T, 'at'> : never) : never;

/** The parameters come as one line of JSON through standard input: there may be credentials in them, and arguments are for all to read. */
export async function readParameters<P extends WorkerParameters>(): Promise<P> {
  const lines = createInterface({ input: process.stdin });
  const [line] = (await once(lines, 'line')) as [string];
  lines.close();
  // It stays open, and is no reason to live.
  (process.stdin as unknown as Socket).unref();
  return JSON.parse(line) as P;
}

/**
 * A worker under torment, all its life long: leads whenever it can, writes as fast as is decent, goes on writing for a while after each
 * term as a process does that was frozen, and tells of all that. Ends with TERM.
 */
export async function work(
  parameters: WorkerParameters,
  openLedger: (observer: FencingObserver) => Ledger,
): Promise<void> {
  const { election, who } = parameters;
  const counts = new Counts();
  const ledger = openLedger(fencingMetrics({ meterProvider: counts.provider }));
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const zombies = new Set<Promise<void>>();
  let writes = 0;

  const tenure = await connect({ ...parameters.connect, meterProvider: counts.provider, signal: stop.signal });
  for (const what of ['elected', 'suspect', 'leading', 'draining', 'lost'] as const) {
    tenure.events.on(what, (event: TermEvent) => {
      const { term, token } = event;
      const { reason, cause } = event as { reason?: string; cause?: string };
      const why = reason ?? cause;
      tell({ type: 'term', what, term, token: `${token}`, ...(why !== undefined && { reason: why }) });
    });
  }
  tell({ type: 'ready' });

  const attempt = async (token: bigint, act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      // Everything else is a writer's daily bread here: not leading, cut off, in doubt.
      if (error instanceof StaleTokenError) tell({ type: 'refused', token: `${token}`, code: error.code });
    }
  };
  const write = (term: FencedTerm): Promise<void> =>
    attempt(term.token, async () => {
      const key = `${who}-${writes++}`;
      await ledger.write(term, who, key);
      tell({ type: 'wrote', key });
    });
  const batch = (term: FencedTerm): Promise<void> =>
    attempt(term.token, async () => {
      const key = `second-${Math.floor(monotonicMs() / 1_000)}`;
      if (await ledger.batch(term, key, who)) tell({ type: 'did', key });
    });

  /** Writes on as one does that was frozen in the middle, or never looks at its lease: the fence alone stands in its way. */
  const haunt = async (token: bigint): Promise<void> => {
    let waited = 0;
    for (const ms of ZOMBIE_MS) {
      await sleep(ms - waited);
      waited = ms;
      await write(presenter(token, { holder: who, timeoutMs: 1_000, waitMs: 100 }));
    }
  };

  const lead = async (term: Term): Promise<void> => {
    let told = Number.NEGATIVE_INFINITY;
    actAsLongAsAllowed(term, (at) => {
      if (at - told < ACT_EVERY_MS) return;
      told = at;
      tell({ type: 'act', term: term.number, token: `${term.token}` }, at);
    });
    while (!term.signal.aborted) {
      await write(term);
      await batch(term);
      await sleep(WRITE_EVERY_MS);
    }
    const zombie = haunt(term.token);
    zombies.add(zombie);
    void zombie.finally(() => zombies.delete(zombie));
  };

  try {
    await tenure.election(election, { id: who }).lead(lead, { signal: stop.signal });
  } catch (error) {
    if (!stop.signal.aborted) tell({ type: 'failed', error: String(error) });
  }
  await Promise.all(zombies);
  await tenure.close();
  const total = await counts.read();
  tell({
    type: 'counters',
    acquired: total('leadership_acquired_total'),
    lost: total('leadership_lost_total'),
    refused: total('fence_checks_total', 'outcome="stale"') + total('fence_checks_total', 'outcome="regressed"'),
  });
  await ledger.close();
}

function tell(line: Untimed, at = monotonicMs()): void {
  process.stdout.write(`${JSON.stringify({ at, ...line })}\n`);
}
