import { electionPaths, sessionsPath } from '../election/names.js';
import type { Fault } from './fault.js';
import type { Random } from './random.js';

/** What somebody with a shell on the ensemble does to the znodes. */
export const ZNODE_FAULTS = {
  delete_candidate: ({ field, random }) => deleteOne(field, electionPaths(field.root, field.election).queue, random),
  delete_session_node: ({ field, random }) => deleteOne(field, sessionsPath(field.root), random),
} satisfies Readonly<Record<string, Fault>>;

async function deleteOne(field: Parameters<Fault>[0]['field'], parent: string, random: Random) {
  const node = await field.byHand(async (session) => {
    await session.sync('/');
    const names = [...((await session.children(parent))?.names ?? [])].sort();
    if (names.length === 0) return undefined;
    const chosen = random.pick(names);
    await session.remove(`${parent}/${chosen}`);
    return chosen;
  });
  return node === undefined ? undefined : { detail: node };
}
