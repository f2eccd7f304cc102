import type { Sidecar } from './sidecar.js';

/** One election in the list of all. What is null isn't known: nobody observes it. */
export function rowBody(sidecar: Sidecar, name: string): object {
  const view = sidecar.observatory.latest(name);
  const own = [...sidecar.candidacies.of(name)].map((candidacy) => {
    const { id, state, position } = candidacy.answer;
    return { id, state, position, remainingMs: Math.floor(candidacy.remainingMs) };
  });
  return {
    election: name,
    state: view?.state ?? null,
    leader:
      view === null || view.leader === null
        ? null
        : { id: view.leader.id, electedAt: view.leader.electedAt, foreign: view.leader.foreign },
    term: view?.term ?? null,
    token: view?.token?.toString() ?? null,
    candidates: view?.candidates.length ?? null,
    paused: view?.paused ?? null,
    version: view?.version ?? null,
    ageMs: view === null ? null : Math.round(view.ageMs),
    own,
  };
}
