import { randomBytes } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import type { ElectionView } from '../index.js';
import type { Candidacy } from './candidacy.js';
import { owned, target } from './candidacy-routes.js';
import type { EventStream } from './event-stream.js';
import type { Sidecar } from './sidecar.js';
import { viewBody } from './views.js';

/** So that no event of an earlier process is taken for one of this. */
const BOOT = randomBytes(6).toString('hex');

export function eventsRoute(router: Router, sidecar: Sidecar): void {
  router.get('/v1/elections/:name/events', (request, response) => {
    const { name } = target(sidecar, request);
    const candidacy = request.query['id'] === undefined ? null : owned(sidecar, request);
    sidecar.streams.admit();
    sidecar.admit(name);
    stream(sidecar, name, candidacy, request, response);
  });
}

function stream(
  sidecar: Sidecar,
  name: string,
  candidacy: Candidacy | null,
  request: Request,
  response: Response,
): void {
  const { observatory } = sidecar;
  const cancels: (() => void)[] = [];
  const id = () => `${BOOT}-${observatory.change(name)}`;
  const beat = () => {
    if (candidacy === null || candidacy.ended) return undefined;
    const { answer } = candidacy;
    // What the clocks alone have changed has told nobody of itself.
    if (!answer.leading && answer.version === told) return undefined;
    told = answer.version;
    return { event: 'candidacy', data: JSON.stringify(answer), id: id() };
  };
  const out: EventStream = sidecar.streams.open(response, beat, () => {
    for (const cancel of cancels) cancel();
  });
  let told = 0;
  const tell = ({ answer }: Candidacy) => {
    told = answer.version;
    out.send('candidacy', JSON.stringify(answer), id());
  };
  const show = (view: ElectionView) => out.send('view', JSON.stringify(viewBody(view)), id());

  cancels.push(observatory.watch(name, show));
  if (candidacy !== null) {
    cancels.push(candidacy.streaming());
    cancels.push(
      sidecar.listen(name, (changed, ending) => {
        if (changed !== candidacy) return;
        tell(candidacy);
        if (ending === null) return;
        out.send('end', JSON.stringify({ reason: ending }), id());
        out.end();
      }),
    );
  }
  // Nothing is repeated for those who know the newest already.
  if (request.get('last-event-id') === id()) return;
  if (candidacy !== null) tell(candidacy);
  const view = observatory.latest(name);
  if (view !== null) show(view);
}
