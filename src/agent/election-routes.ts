import type { Router } from 'express';
import { target } from './candidacy-routes.js';
import { Problem } from './problem.js';
import { rowBody } from './rows.js';
import type { Sidecar } from './sidecar.js';
import { exists, viewBody } from './views.js';

export function electionRoutes(router: Router, sidecar: Sidecar): void {
  router.get('/v1/elections', async (_request, response) => {
    await sidecar.overview.look();
    response.json({ elections: [...sidecar.shown].sort().map((name) => rowBody(sidecar, name)) });
  });

  router.get('/v1/elections/:name', async (request, response) => {
    const { name } = target(sidecar, request);
    const view = await sidecar.observatory.read(name);
    if (!exists(view)) {
      throw new Problem(
        404,
        'unknown_election',
        `there is nothing of an election ${JSON.stringify(name)} in ZooKeeper`,
      );
    }
    response.json(viewBody(view));
  });

  router.get('/v1/elections/:name/leader', (request, response) => {
    const { name } = target(sidecar, request);
    const id = request.query['id'] as string | undefined;
    const answers = [...sidecar.candidacies.of(name)]
      .filter((candidacy) => id === undefined || candidacy.id === id)
      .map(({ answer }) => answer);
    const answer = answers.find(({ leading }) => leading) ?? answers[0];
    response.status(answer?.leading === true ? 200 : 503).json({
      election: name,
      id: answer?.id ?? id ?? null,
      leading: answer?.leading ?? false,
      state: answer?.state ?? null,
      term: answer?.term ?? null,
      token: answer?.token ?? null,
      mayActMs: answer?.mayActMs ?? 0,
    });
  });
}
