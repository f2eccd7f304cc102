import type { Request, Response, Router } from 'express';
import { electionName } from '../election/names.js';
import { type Joining, taken } from './candidacies.js';
import type { Candidacy } from './candidacy.js';
import { Problem, unavailable } from './problem.js';
import type { Sidecar } from './sidecar.js';

const PATH = '/v1/elections/:name/candidacy';

/** What a request names; all of it has been checked against the document. */
export function target(sidecar: Sidecar, request: Request): { name: string; id: string; key: string | undefined } {
  return {
    name: electionName(request.params['name'] as string),
    id: (request.query['id'] as string | undefined) ?? sidecar.options.id,
    key: request.get('candidacy-key'),
  };
}

/** The candidacy that the request has the key of. @throws {Problem} 404 or 409 */
export function owned(sidecar: Sidecar, request: Request): Candidacy {
  const { name, id, key } = target(sidecar, request);
  const candidacy = sidecar.candidacies.find(name, id);
  if (candidacy === undefined) throw noCandidacy(name, id);
  if (!candidacy.opens(key)) throw taken(candidacy);
  return candidacy;
}

export function candidacyRoutes(router: Router, sidecar: Sidecar): void {
  router.put(PATH, (request, response) => put(sidecar, request, response));

  router.get(PATH, (request, response) => {
    const candidacy = owned(sidecar, request);
    response.json(candidacy.ask({ put: false }));
  });

  router.delete(PATH, (request, response) => {
    const { name, id, key } = target(sidecar, request);
    const candidacy = sidecar.candidacies.find(name, id);
    if (candidacy !== undefined) {
      if (!candidacy.opens(key)) throw taken(candidacy);
      candidacy.end('resigned');
    }
    response.status(204).end();
  });
}

async function put(sidecar: Sidecar, request: Request, response: Response): Promise<void> {
  const { name, id, key } = target(sidecar, request);
  const body = (request.body ?? {}) as Joining & { settled?: boolean };
  const known = sidecar.candidacies.find(name, id);
  if (known !== undefined) {
    if (!known.opens(key)) throw taken(known);
    const answer = known.ask({ put: true, ttlMs: body.ttlMs, settled: body.settled });
    response.json({ ...answer, key: known.key });
    return;
  }
  // Its holder must learn that it has ended: a new one is a new place in the queue.
  if (key !== undefined) throw noCandidacy(name, id);
  refuseWhileStopping(sidecar);
  sidecar.changes.take();
  const tenure = await sidecar.connection.ready();
  // Whoever comes now isn't among those who are asked to finish.
  refuseWhileStopping(sidecar);
  sidecar.admit(name);
  const meanwhile = sidecar.candidacies.find(name, id);
  if (meanwhile !== undefined) throw taken(meanwhile);
  const candidacy = sidecar.candidacies.join(tenure, name, id, body);
  const answer = candidacy.ask({ put: true });
  response.status(201).json({ ...answer, key: candidacy.key });
}

function refuseWhileStopping({ stopping }: Sidecar): void {
  if (stopping) throw unavailable('shutting_down', 'this sidecar stops: join at another one');
}

function noCandidacy(name: string, id: string): Problem {
  return new Problem(
    404,
    'no_candidacy',
    `candidate ${JSON.stringify(id)} of ${JSON.stringify(name)} does not exist here, or has ended: PUT without a key joins`,
  );
}
