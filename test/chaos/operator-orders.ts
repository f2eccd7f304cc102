import { connect, type Election } from '../../src/index.js';
import { ELECTION, type Field } from './field.js';
import { type Nemesis, T } from './nemesis.js';

/** What operators ask for, at the worst of times. */
export const OPERATOR_ORDERS: Readonly<Record<string, Nemesis>> = {
  pause: async ({ field, random }) => {
    const order = { by: 'chaos', reason: 'to see that nobody leads' };
    const paused = await give(field, (election) => election.pause(order));
    if (paused === undefined) return undefined;
    const end = async (): Promise<void> => {
      // Resumed at last, whatever the ensemble goes through.
      while ((await give(field, (election) => resumed(election))) === undefined);
    };
    return { stalls: true, ms: random.between(200, 2 * T(field)), end };
  },
  transfer: async ({ field, random }) => {
    const to = await give(field, async (election) => {
      const { candidates } = await election.current();
      const target = random.pick(candidates.slice(0, 8));
      await election.transfer({
        to: target.node,
        by: 'chaos',
        reason: 'to see that it leads next',
        deadlineMs: T(field),
      });
      return target.id;
    });
    return to === undefined ? undefined : { detail: to };
  },
  evict: async ({ field, random }) => {
    const evicted = await give(field, async (election) => {
      const { candidates } = await election.current();
      const target = random.pick(candidates);
      await election.evict({ node: target.node, by: 'chaos', reason: 'to see that it is patient' });
      return target.id;
    });
    return evicted === undefined ? undefined : { detail: evicted };
  },
};

async function resumed(election: Election): Promise<true> {
  const { paused } = await election.current();
  if (paused !== null) await election.resume({ by: 'chaos', reason: 'seen' });
  return true;
}

/** Undefined where it was refused, or no quorum is there to hear it. */
async function give<R>(field: Field, order: (election: Election) => Promise<R>): Promise<R | undefined> {
  const servers = field.ensemble.connectString;
  try {
    const tenure = await connect({ servers, driver: 'wire', lifeline: false, connectTimeoutMs: 3_000 });
    try {
      return await order(tenure.election(ELECTION, { id: 'operator' }));
    } finally {
      await tenure.close();
    }
  } catch {
    return undefined;
  }
}
