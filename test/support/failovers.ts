import { connect, type Tenure, type Term } from '../../src/index.js';
import type { Line } from '../../src/verify/lines.js';
import { monotonicMs, sleep } from '../../src/verify/monotonic.js';

/** What one failover cost the ensemble. */
export interface Cost {
  readonly requests: number;
  readonly requestBytes: number;
  readonly replies: number;
  readonly replyBytes: number;
  /** From the resignation to the successor's leading. */
  readonly ms: number;
}

/** Longer than anything that a failover causes takes to be answered; the history is written a quarter of a second after the claim. */
const SETTLED_MS = 800;

/**
 * So many candidates, each with a session of its own, behind one line that counts; then leader after leader resigns for good.
 * Signs of life are not in what is counted: they cost the same all the time, and go on between failovers.
 */
export async function countFailovers(
  line: Line,
  election: string,
  candidates: number,
  failovers: number,
): Promise<Cost[]> {
  const tenures: Tenure[] = [];
  const campaigns: Promise<Term>[] = [];
  let elected: (term: Term) => void = () => {};
  let leader = new Promise<Term>((resolve) => {
    elected = resolve;
  });
  for (let index = 0; index < candidates; index++) {
    // The session timeout is long, so that no session ends by the noise of many clients in one process.
    const tenure = await connect({ servers: line.address, sessionTimeoutMs: 40_000 });
    tenures.push(tenure);
    const joined = new Promise((resolve) => tenure.events.once('joined', resolve));
    const campaign = tenure.election(election, { id: `candidate-${String(index).padStart(4, '0')}` }).campaign();
    campaigns.push(campaign);
    campaign.then(
      (term) => elected(term),
      () => {},
    );
    await joined;
  }
  const costs: Cost[] = [];
  for (let failover = 0; failover < failovers; failover++) {
    const term = await leader;
    leader = new Promise<Term>((resolve) => {
      elected = resolve;
    });
    await sleep(SETTLED_MS);
    const before = await line.traffic();
    const begin = monotonicMs();
    await Promise.all([term.resign(), leader]);
    const ms = monotonicMs() - begin;
    await sleep(SETTLED_MS);
    const after = await line.traffic();
    costs.push({
      requests: after.requests.packets - before.requests.packets,
      requestBytes: after.requests.bytes - before.requests.bytes,
      replies: after.replies.packets - before.replies.packets,
      replyBytes: after.replies.bytes - before.replies.bytes,
      ms,
    });
  }
  await Promise.all(tenures.map((tenure) => tenure.close()));
  await Promise.allSettled(campaigns);
  return costs;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
