import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../deploy/local/index.js';
import { fencedFetch, fencing, PROBLEM_TYPES } from '../../../src/fencing/http.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { fakeTerm } from '../../conformance/terms.js';

let store: Postgres;
let pool: pg.Pool;
let url: string;
let close: () => void;
let entries = 0;
let told: unknown[] = [];
let during: (() => Promise<unknown>) | undefined;

beforeAll(async () => {
  store = await startPostgres();
  pool = new pg.Pool({ ...store.config, max: 10 });
  pool.on('error', () => undefined);
  const guard = postgresGuard({ pool });
  await guard.migrate();
  await pool.query('CREATE TABLE written (what text)');
  const fenced = fencing({ guard, resource: () => 'r', timeoutMs: 2_000 });
  const serializable = fencing({
    guard: postgresGuard({ pool }, { isolation: 'serializable' }),
    resource: () => 'serializable',
    timeoutMs: 2_000,
  });
  const app = express();
  app.post('/conflict', serializable, async (request, response) => {
    entries += 1;
    const { context: tx } = serializable.of(request);
    const { rows } = await tx.query('SELECT count(*) FROM written');
    await tx.query('INSERT INTO written VALUES ($1)', [`mine after ${rows[0].count}`]);
    await during?.();
    response.json({ paid: true });
  });
  const after: Record<string, (response: express.Response) => void> = {
    throws: () => {
      throw new Error('after the answer');
    },
    changes: (response) => {
      told = [response.headersSent, response.writableEnded];
      response.statusCode = 418;
      response.statusMessage = 'Teapot';
      response.setHeader('x-late', '1');
      response.setHeaders(new Headers({ 'x-late': '2' }));
      response.appendHeader('x-late', '3');
      response.removeHeader('x-early');
      response.writeHead(419, { 'x-late': '4' });
      response.flushHeaders();
      told.push(response.write('late '), response.statusCode);
      response.end('later');
    },
    writes: (response) => void response.write('late', () => told.push('called back')),
  };
  app.post('/after/:what', fenced, async (request, response) => {
    await fenced.of(request).context.query('INSERT INTO written VALUES ($1)', [request.params['what']]);
    response.setHeader('x-early', 'yes').status(201).json({ paid: true });
    after[request.params['what'] as string]?.(response);
  });
  app.post('/late-commit', fenced, async (request, response) => {
    await fenced.of(request).context.query('INSERT INTO strict VALUES (1), (1)');
    response.status(201).json({ paid: true });
    response.statusCode = 418;
  });
  await pool.query('CREATE TABLE strict (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
  app.use((error: Error, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    response.status(500).json({ error: `${error.message}, at some length` });
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => {
    server.close();
    server.closeAllConnections();
  };
});
afterAll(async () => {
  close?.();
  await pool?.end();
  await store?.close();
});
beforeEach(async () => {
  entries = 0;
  told = [];
  during = undefined;
  await pool.query('TRUNCATE written');
});

const post = (path: string, resource = 'r') =>
  fencedFetch(fakeTerm(1n), resource)(`${url}${path}`, { method: 'POST', signal: AbortSignal.timeout(4_000) });
const written = async (): Promise<string[]> =>
  (await pool.query('SELECT what FROM written')).rows.map((row) => row.what);

describe('a conflict at the commit', () => {
  test('is answered 503 and not tried again: a request is handled once', async () => {
    // The other one reads what we write and writes what we read: the one that commits last has to fail, and only there.
    during = async () => {
      during = undefined;
      const other = await pool.connect();
      try {
        await other.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
        await other.query('SELECT count(*) FROM written');
        await other.query("INSERT INTO written VALUES ('theirs')");
        await other.query('COMMIT');
      } finally {
        other.release();
      }
    };
    const response = await post('/conflict', 'serializable');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ type: PROBLEM_TYPES.conflict, status: 503 });
    expect(entries).toBe(1);
    expect(await written()).toEqual(['theirs']);
    // As the client was told to.
    expect(await (await post('/conflict', 'serializable')).json()).toEqual({ paid: true });
    expect(await written()).toEqual(['theirs', 'mine after 1']);
  });
});

describe('after the end', () => {
  test.each(['throws', 'changes', 'writes'])('a handler that %s changes nothing of its answer', async (what) => {
    const response = await post(`/after/${what}`);
    expect([response.status, response.statusText]).toEqual([201, 'Created']);
    expect([response.headers.get('x-early'), response.headers.get('x-late')]).toEqual(['yes', null]);
    expect(await response.text()).toBe('{"paid":true}');
    expect(await written()).toEqual([what]);
    if (what === 'changes') expect(told).toEqual([true, true, false, 201]);
    if (what === 'writes') expect(told).toEqual(['called back']);
  });

  test('the guard can still say that the commit failed', async () => {
    const response = await post('/late-commit');
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ type: PROBLEM_TYPES.failed });
  });
});
