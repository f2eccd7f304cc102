import { isForeign } from '../election/candidate.js';
import type { ElectionView } from '../index.js';

/** A view as the sidecar shows it. */
export function viewBody(view: ElectionView): object {
  const { election, state, leader, term, token, candidates, paused, version, ageMs } = view;
  return {
    election,
    state,
    leader:
      leader === null
        ? null
        : {
            node: leader.node,
            id: leader.id,
            token: leader.token.toString(),
            term: leader.term,
            metadata: leader.metadata,
            electedAt: leader.electedAt,
            foreign: leader.foreign,
          },
    term,
    token: token?.toString() ?? null,
    candidates: candidates.map(({ node, id, data }) => ({ node, id, foreign: isForeign(node, data) })),
    paused: paused === null ? null : { by: paused.by, at: paused.at, reason: paused.reason },
    version,
    ageMs: Math.round(ageMs),
  };
}

/** Whether there is anything of it in ZooKeeper. */
export function exists({ version, candidates }: ElectionView): boolean {
  return version >= 0 || candidates.length > 0;
}
