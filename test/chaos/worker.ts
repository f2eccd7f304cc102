import type { TermEvent } from '../../src/election/events.js';
import { type FencedTerm, presenter } from '../../src/fencing/index.js';
import { connect, fencingMetrics, StaleTokenError, type Term } from '../../src/index.js';
import { actAsLongAsAllowed } from '../support/acts.js';
import { monotonicMs, sleep } from '../support/monotonic.js';
import { testProvider } from '../support/telemetry-run.js';
import { Ledger } from './ledger.js';
import type { Told } from './told.js';

/** A worker under torment. Its parameters are JSON in the first argument. */
export interface WorkerParameters {
  readonly servers: string;
  readonly election: string;
  readonly who: string;
  readonly sessionTimeoutMs: number;
  readonly driver: 'native' | 'wire';
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
    readonly database: string;
  };
}

/** An act is told of at most this often, in milliseconds. */
const ACT_EVERY_MS = 10;
/** How long after its term a writer that has learnt nothing tries again, in milliseconds. */
const ZOMBIE_MS = [30, 600, 2_500] as const;

type Untimed = Told extends infer T ? (T extends Told ? Omit<T, 'at'> : never) : never;
const tell = (line: Untimed, at = monotonicMs()): void => {
  process.stdout.write(`${JSON.stringify({ at, ...line })}\n`);
};

const { servers, election, who, sessionTimeoutMs, driver, postgres } = JSON.parse(
  process.argv[2] ?? '',
) as WorkerParameters;
const { provider, scrape } = testProvider();
const ledger = new Ledger(postgres, fencingMetrics({ meterProvider: provider }));
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const zombies = new Set<Promise<void>>();

const tenure = await connect({ servers, sessionTimeoutMs, driver, meterProvider: provider, signal: stop.signal });
for (const what of ['elected', 'suspect', 'leading', 'draining', 'lost'] as const) {
  tenure.events.on(what, (event: TermEvent) => {
    const { term, token } = event;
    const { reason, cause } = event as { reason?: string; cause?: string };
    tell({
      type: 'term',
      what,
      term,
      token: `${token}`,
      ...((reason ?? cause) !== undefined && { reason: reason ?? cause }),
    });
  });
}
tell({ type: 'ready' });

async function attempt(token: bigint, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    // Everything else is a writer's daily bread here: not leading, cut off, in doubt.
    if (error instanceof StaleTokenError) tell({ type: 'refused', token: `${token}`, code: error.code });
  }
}

/** Writes on as one does that was frozen in the middle, or never looks at its lease: the fence alone stands in its way. */
async function haunt(token: bigint): Promise<void> {
  let waited = 0;
  for (const ms of ZOMBIE_MS) {
    await sleep(ms - waited);
    waited = ms;
    const zombie: FencedTerm = presenter(token, { holder: who, timeoutMs: 1_000, waitMs: 100 });
    await attempt(token, () => ledger.write(zombie, who));
  }
}

async function work(term: Term): Promise<void> {
  let told = Number.NEGATIVE_INFINITY;
  actAsLongAsAllowed(term, (at) => {
    if (at - told < ACT_EVERY_MS) return;
    told = at;
    tell({ type: 'act', term: term.number, token: `${term.token}` }, at);
  });
  while (!term.signal.aborted) {
    await attempt(term.token, () => ledger.write(term, who));
    const key = `second-${Math.floor(monotonicMs() / 1_000)}`;
    await attempt(term.token, () => ledger.batch(term, key, who));
    await sleep(40);
  }
  const zombie = haunt(term.token);
  zombies.add(zombie);
  void zombie.finally(() => zombies.delete(zombie));
}

try {
  await tenure.election(election, { id: who }).lead(work, { signal: stop.signal });
} catch (error) {
  if (!stop.signal.aborted) tell({ type: 'failed', error: String(error) });
}
await Promise.all(zombies);
await tenure.close();
const page = await scrape();
const total = (name: string, label = ''): number =>
  page
    .all(`leader_election_${name}`)
    .filter(([series]) => series.includes(label))
    .reduce((sum, [, value]) => sum + value, 0);
tell({
  type: 'counters',
  acquired: total('leadership_acquired_total'),
  lost: total('leadership_lost_total'),
  refused: total('fence_checks_total', 'outcome="stale"') + total('fence_checks_total', 'outcome="regressed"'),
});
await ledger.close();
