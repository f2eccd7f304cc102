import type { Request, Response, Router } from 'express';
import { orAborted } from '../election/waiting.js';
import type { ControlOptions, Election, HistoryEntry } from '../index.js';
import { target } from './candidacy-routes.js';
import { unavailable } from './problem.js';
import type { Sidecar } from './sidecar.js';

/** A change is known to have been made, or it is told that ZooKeeper is away. */
const TIMEOUT_MS = 5_000;

type Change = (election: Election, options: ControlOptions, body: Record<string, unknown>) => Promise<object>;

/** The operator's hand: compare-and-set on the record of the election, and a local stop that needs no ZooKeeper. */
export function controlRoutes(router: Router, sidecar: Sidecar): void {
  const change = (what: string, make: Change) => {
    router.post(`/v1/elections/:name/${what}`, async (request, response) => {
      sidecar.changes.take();
      const body = request.body as Record<string, unknown>;
      const { by, reason = what } = body as { by: string; reason?: string };
      const made = await asked(sidecar, request, (election, signal) => make(election, { by, reason, signal }, body));
      sidecar.options.logger.info(
        { election: target(sidecar, request).name, change: what, by, reason },
        'an operator changed an election',
      );
      response.json(made);
    });
  };
  change('pause', async (election, options) => ({ paused: await election.pause(options) }));
  change('resume', async (election, options) => {
    await election.resume(options);
    return { paused: null };
  });
  change('transfer', async (election, options, { to, deadlineMs }) => ({
    transfer: await election.transfer({
      ...options,
      to: to as string,
      ...(deadlineMs === undefined ? {} : { deadlineMs: deadlineMs as number }),
    }),
  }));

  router.get('/v1/elections/:name/history', async (request, response) => {
    const entries = await asked(sidecar, request, (election, signal) =>
      orAborted(
        sidecar.reads.take(() => election.history({ signal })),
        signal,
      ),
    );
    response.json({ election: target(sidecar, request).name, entries: entries.map(entryBody) });
  });

  router.post('/v1/hold', (request, response) => {
    sidecar.changes.take();
    sidecar.hold((request.body as { reason: string }).reason);
    held(sidecar, response);
  });
  router.delete('/v1/hold', (_request, response) => {
    sidecar.changes.take();
    sidecar.hold(null);
    held(sidecar, response);
  });
}

function held(sidecar: Sidecar, response: Response): void {
  response.json({ held: sidecar.held });
}

async function asked<T>(
  sidecar: Sidecar,
  request: Request,
  ask: (election: Election, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { name } = target(sidecar, request);
  const tenure = await sidecar.connection.ready();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await ask(tenure.onlooker(name), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw unavailable(
      'zookeeper_away',
      `ZooKeeper did not confirm it within ${TIMEOUT_MS} ms: it may have been done all the same`,
    );
  }
}

function entryBody(entry: HistoryEntry): object {
  if (entry.kind === 'control') return { ...entry };
  return { ...entry, token: entry.token.toString() };
}
