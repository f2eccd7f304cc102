import { createServer, type Server } from 'node:http';
import { UsageError } from '../usage-error.js';

/** What `--health-port` tells. */
export interface Standing {
  readonly state: 'connecting' | 'waiting' | 'leading' | 'stopping';
  readonly election: string;
  readonly id: string;
  /** Of the term that is held. */
  readonly term?: number;
  readonly token?: string;
  /** Of the command, while it runs. */
  readonly pid?: number;
}

export interface HealthAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** `8080` listens on every interface, as probes come from outside; `127.0.0.1:8080` or `[::1]:8080` on one. @throws {UsageError} */
export function parseHealthAddress(text: string): HealthAddress {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]]+):)?(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2] ?? Number.NaN);
  if (!(port <= 65_535)) {
    throw new UsageError(
      `--health-port ${JSON.stringify(text)} must be a port, or an address and a port: 127.0.0.1:8080`,
    );
  }
  return { host: match?.[1]?.replace(/^\[|\]$/g, ''), port };
}

/** `/leader` answers 200 while the command runs as leader and 503 otherwise; every other path 200 as long as we are alive. */
export async function serveHealth({ host, port }: HealthAddress, standing: () => Standing): Promise<Server> {
  const server = createServer((request, response) => {
    const now = standing();
    const path = (request.url ?? '/').split('?')[0];
    const well = path !== '/leader' || now.state === 'leading';
    response.writeHead(well ? 200 : 503, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(now)}\n`);
  });
  server.requestTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
  });
  // The command decides how long we live, and no probe's connection, not even one that can't be accepted.
  server.on('error', () => {});
  server.unref();
  return server;
}
