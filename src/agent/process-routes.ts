import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Router } from 'express';
import { documentText } from './document.js';
import type { Sidecar } from './sidecar.js';

export function processRoutes(
  router: Router,
  sidecar: Sidecar,
  metrics: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  // That it is answered at all says that the event loop turns; that nobody leads past a deadline is computed with each answer.
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });

  router.get('/readyz', (_request, response) => {
    if (sidecar.stopping) response.status(503).json({ status: 'failing', detail: 'this sidecar stops' });
    else if (sidecar.connected) response.json({ status: 'ok' });
    else response.status(503).json({ status: 'failing', detail: 'no session with ZooKeeper is connected' });
  });

  router.get('/metrics', (request, response) => metrics(request, response));

  router.get('/openapi.json', (_request, response) => {
    response.type('application/json').send(documentText);
  });
}
