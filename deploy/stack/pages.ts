import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** What `/healthz` and `/readyz` answer. */
export interface Probe {
  readonly ok: boolean;
  readonly detail: string;
}

export interface Pages {
  /** Whether this process is to be left alone. One that waits in a queue is healthy. */
  healthz(): Probe;
  /** Whether it takes part: it has a session. Not whether it leads. */
  readyz(): Probe;
  readonly metrics: RequestListener;
}

/** Serves `/metrics`, `/healthz` and `/readyz` of a worker. It keeps no process alive. */
export async function servePages(host: string, port: number, pages: Pages): Promise<void> {
  const server = createServer((request, response) => {
    const answer = ({ ok, detail }: Probe): void => {
      response.writeHead(ok ? 200 : 503, { 'content-type': 'text/plain' }).end(`${detail}\n`);
    };
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') response.writeHead(405, { allow: 'GET, HEAD' }).end();
    else if (path === '/metrics') pages.metrics(request, response);
    else if (path === '/healthz') answer(pages.healthz());
    else if (path === '/readyz') answer(pages.readyz());
    else response.writeHead(404).end();
  });
  server.unref();
  server.listen(port, host);
  await once(server, 'listening');
}
