import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { startPostgres, waitFor } from '../../deploy/local/index.js';
import { fencedFetch, fencing } from '../../src/fencing/http.js';
import { postgresGuard } from '../../src/fencing/postgres.js';
import { type Access, guardConformance, type Harness } from './guard.js';

guardConformance('HTTP, express before PostgreSQL', httpHarness);

async function httpHarness(): Promise<Harness> {
  const store = await startPostgres();
  const pool = new pg.Pool({ ...store.config, max: 40 });
  pool.on('error', () => undefined);
  const guard = postgresGuard({ pool });
  await guard.migrate();
  await pool.query('CREATE TABLE log (id bigserial PRIMARY KEY, resource text, token bigint)');

  const pauses = new Map<string, () => Promise<void>>();
  const fenced = fencing({ guard, timeoutMs: 1_000 });
  const app = express();
  app.post('/check', fenced, (_request, response) => void response.status(204).end());
  app.post('/write', fenced, async (request, response) => {
    const { resource, term, context: tx } = fenced.of(request);
    await pauses.get(String(request.query['pause']))?.();
    await tx.query('INSERT INTO log (resource, token) VALUES ($1, $2)', [resource, String(term.token)]);
    response.status(201).json({ written: true });
  });
  // Handlers that wake after their time fail; that is what is tested, not what express prints about it.
  app.use((_error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    response.status(500).end();
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  let calls = 0;
  return {
    completeLog: true,
    leaseKnown: true,
    async open(observer): Promise<Access> {
      const post = async (path: string, ...[term, resource]: Parameters<typeof fencedFetch>) => {
        const response = await fencedFetch(
          term,
          resource,
          observer && { observer },
        )(`${url}${path}`, { method: 'POST' });
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      };
      return {
        check: (term, resource) => post('/check', term, resource),
        highest: async (resource) => guard.highest(resource),
        async write(term, resource, pause) {
          calls += 1;
          const id = String(calls);
          if (pause !== undefined) pauses.set(id, pause);
          await post(`/write?pause=${id}`, term, resource);
        },
      };
    },
    async log(resource) {
      const { rows } = await pool.query('SELECT token::text FROM log WHERE resource = $1 ORDER BY id', [resource]);
      return rows.map((row) => BigInt(row.token));
    },
    async restart() {
      await store.kill();
      await waitFor(
        () =>
          store.start().then(
            () => true,
            () => false,
          ),
        { what: 'PostgreSQL to start again' },
      );
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await pool.end();
      await store.close();
    },
  };
}
