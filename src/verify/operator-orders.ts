import type { Election } from '../index.js';
import { type Fault, T } from './fault.js';
import { sleep } from './monotonic.js';

const BY = 'verify';

/** What operators ask for, at the worst of times. */
export const OPERATOR_ORDERS = {
  pause: async ({ field, random }) => {
    const order = { by: BY, reason: 'to see that nobody leads' };
    const paused = await field.order((election) => election.pause(order));
    if (paused === undefined) return undefined;
    const end = async (): Promise<void> => {
      // Resumed at last, whatever the ensemble goes through.
      while ((await field.order((election) => resumed(election))) === undefined) await sleep(100);
    };
    return { stalls: true, ms: random.between(200, 2 * T(field)), end };
  },
  transfer: async ({ field, random }) => {
    const to = await field.order(async (election) => {
      const { candidates } = await election.current();
      const target = random.pick(candidates.slice(0, 8));
      const reason = 'to see that it leads next';
      await election.transfer({ to: target.node, by: BY, reason, deadlineMs: T(field) });
      return target.id;
    });
    return to === undefined ? undefined : { detail: to };
  },
  evict: async ({ field, random }) => {
    const evicted = await field.order(async (election) => {
      const { candidates } = await election.current();
      const target = random.pick(candidates);
      await election.evict({ node: target.node, by: BY, reason: 'to see that it is patient' });
      return target.id;
    });
    return evicted === undefined ? undefined : { detail: evicted };
  },
} satisfies Readonly<Record<string, Fault>>;

async function resumed(election: Election): Promise<true> {
  const { paused } = await election.current();
  if (paused !== null) await election.resume({ by: BY, reason: 'seen' });
  return true;
}
