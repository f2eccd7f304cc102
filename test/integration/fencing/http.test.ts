import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Postgres, startPostgres, waitFor } from '../../../deploy/local/index.js';
import { NotLeadingError, StaleTokenError } from '../../../src/errors.js';
import { fencedFetch, fencing, PROBLEM_TYPES } from '../../../src/fencing/http.js';
import { type FenceOutcome, FenceReleasedError } from '../../../src/fencing/index.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { pause } from '../../conformance/guard.js';
import { fakeTerm } from '../../conformance/terms.js';

let store: Postgres;
let pool: pg.Pool;
let url: string;
let close: () => void;
let made = 0;
let resource: string;
const seen: string[] = [];
const late: unknown[] = [];
let gate = pause();

beforeAll(async () => {
  store = await startPostgres();
  pool = new pg.Pool({ ...store.config, max: 10 });
  pool.on('error', () => undefined);
  const guard = postgresGuard({ pool });
  await guard.migrate();
  await pool.query('CREATE TABLE written (what text)');
  const fenced = fencing({
    guard,
    timeoutMs: 500,
    observer: { check: (what, outcome) => void seen.push(`${what} ${outcome}`) },
  });
  const app = express();
  app.post('/write', fenced, async (request, response) => {
    const { context: tx } = fenced.of(request);
    const { what, status = '201' } = request.query as Record<string, string>;
    await tx.query('INSERT INTO written VALUES ($1)', [what]);
    response.setHeader('etag', '"x"');
    response.status(Number(status)).json({ what });
  });
  app.post('/deferred', fenced, async (request, response) => {
    const { context: tx } = fenced.of(request);
    // Fails at the commit, after the handler has answered.
    await tx.query('INSERT INTO strict VALUES (1), (1)');
    response.json({ fine: true });
  });
  app.post('/slow', fenced, async (request, response) => {
    const { context: tx, signal } = fenced.of(request);
    await tx.query("INSERT INTO written VALUES ('slow')");
    response.setHeader('x-early', 'yes');
    await gate.pause();
    try {
      await tx.query("INSERT INTO written VALUES ('slow, later')");
    } catch (error) {
      late.push(error, signal.aborted);
    }
    response.setHeader('x-late', 'yes').json({ slow: true });
  });
  app.post('/throws', fenced, async (request) => {
    await fenced.of(request).context.query("INSERT INTO written VALUES ('throws')");
    throw new Error('handler');
  });
  app.post('/streams', fenced, (_request, response) => {
    response.write('first ');
    setTimeout(() => response.end('last'), 20);
  });
  app.post(
    '/fixed',
    fencing({ guard, resource: () => 'fixed' }),
    (_request, response) => void response.status(204).end(),
  );
  app.post('/unfenced', (request, response) => void response.json(String(fencedOf(request))));
  const fencedOf = (request: express.Request) => {
    try {
      return fenced.of(request);
    } catch (error) {
      return error;
    }
  };
  app.use((error: Error, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    response.status(500).json({ error: error.message });
  });
  await pool.query('CREATE TABLE strict (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
  const server = createServer(app);
  server.listen(0, '127.0.0.1');
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
  made += 1;
  resource = `r/${made} ö`;
  seen.length = 0;
  late.length = 0;
  gate = pause();
  await pool.query('TRUNCATE written');
});

const written = async (): Promise<string[]> =>
  (await pool.query('SELECT what FROM written')).rows.map((row) => row.what);
const post = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { method: 'POST', headers });
const fencedPost = (token: bigint, path: string) =>
  fencedFetch(fakeTerm(token, { leaderId: `leader ${token}` }), resource)(`${url}${path}`, { method: 'POST' });

describe('the answers', () => {
  test('428 without a token or a resource, 400 for what is not one', async () => {
    const encoded = encodeURIComponent(resource);
    const cases: [Record<string, string>, number][] = [
      [{}, 428],
      [{ 'Fencing-Token': '1' }, 428],
      [{ 'Fencing-Resource': encoded }, 428],
      [{ 'Fencing-Token': '', 'Fencing-Resource': encoded }, 400],
      [{ 'Fencing-Token': '0', 'Fencing-Resource': encoded }, 400],
      [{ 'Fencing-Token': '-1', 'Fencing-Resource': encoded }, 400],
      [{ 'Fencing-Token': '1e3', 'Fencing-Resource': encoded }, 400],
      [{ 'Fencing-Token': '9223372036854775808', 'Fencing-Resource': encoded }, 400],
      [{ 'Fencing-Token': '1, 2', 'Fencing-Resource': encoded }, 400],
      [{ 'Fencing-Token': '1', 'Fencing-Resource': '%zz' }, 400],
      [{ 'Fencing-Token': '1', 'Fencing-Resource': '%00' }, 400],
    ];
    for (const [headers, status] of cases) {
      const response = await post('/write?what=x', headers);
      expect(response.status, JSON.stringify(headers)).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.json()).toMatchObject({
        type: PROBLEM_TYPES[status === 428 ? 'missing' : 'malformed'],
        status,
      });
    }
    expect(await written()).toEqual([]);
    expect(seen).toEqual(['other missing', 'other missing', `${resource} missing`]);
  });

  test('409 as a problem document that says which token and whose', async () => {
    expect((await fencedPost(9_007_199_254_740_993n, '/write?what=new')).status).toBe(201);
    const response = await post('/write?what=old', {
      'Fencing-Token': '9007199254740992',
      'Fencing-Resource': encodeURIComponent(resource),
    });
    expect(response.status).toBe(409);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toEqual({
      type: 'urn:tenure:problem:stale-token',
      title: 'A newer leader has been accepted',
      status: 409,
      detail: expect.stringContaining('9007199254740993'),
      resource,
      token: '9007199254740992',
      highest: '9007199254740993',
      holder: 'leader 9007199254740993',
    });
    expect(await written()).toEqual(['new']);
  });

  test('a route’s own resource needs no header, and bears no other', async () => {
    expect((await post('/fixed', { 'Fencing-Token': '1' })).status).toBe(204);
    expect((await post('/fixed', { 'Fencing-Token': '1', 'Fencing-Resource': 'fixed' })).status).toBe(204);
    expect((await post('/fixed', { 'Fencing-Token': '1', 'Fencing-Resource': 'other' })).status).toBe(400);
    expect((await post('/fixed')).status).toBe(428);
  });

  test('of() is for requests that came through', async () => {
    expect(await (await post('/unfenced')).json()).toMatch(/TypeError/);
  });
});

describe('the end of a response', () => {
  test('comes after the commit: what fails then is told, not the success that the handler meant', async () => {
    const response = await fencedPost(1n, '/deferred');
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ type: PROBLEM_TYPES.failed });
  });

  test('with an error status rolls back, and goes out as the handler wrote it', async () => {
    const response = await fencedPost(1n, '/write?what=bad&status=422');
    expect([response.status, response.headers.get('etag'), await response.json()]).toEqual([
      422,
      '"x"',
      { what: 'bad' },
    ]);
    const thrown = await fencedPost(1n, '/throws');
    expect([thrown.status, await thrown.json()]).toEqual([500, { error: 'handler' }]);
    expect(await written()).toEqual([]);
    expect(pool.totalCount - pool.idleCount).toBe(0);
  });

  test('may follow bytes that went out before', async () => {
    expect(await (await fencedPost(1n, '/streams')).text()).toBe('first last');
  });
});

describe('a request that holds the fence', () => {
  test('excludes a newer term until its time is over; then it is answered 503, and can do no more', async () => {
    const slow = fencedPost(1n, '/slow');
    await gate.reached;
    const start = performance.now();
    expect((await fencedPost(2n, '/write?what=newer')).status).toBe(201);
    expect(performance.now() - start).toBeGreaterThan(250);
    const response = await slow;
    expect([response.status, response.headers.get('retry-after'), response.headers.get('x-late')]).toEqual([
      503,
      '1',
      null,
    ]);
    expect(await response.json()).toMatchObject({ type: PROBLEM_TYPES.timeout });
    gate.resume();
    await waitFor(() => late.length > 0, { what: 'the slow handler' });
    expect(late[0]).toBeInstanceOf(FenceReleasedError);
    expect(late[1]).toBe(true);
    expect(await written()).toEqual(['newer']);
  });

  test('lets go when its client goes', async () => {
    const call = send(`${url}/slow`, {
      method: 'POST',
      headers: { 'fencing-token': '1', 'fencing-resource': encodeURIComponent(resource) },
    });
    call.on('error', () => undefined);
    call.end();
    await gate.reached;
    call.destroy();
    const start = performance.now();
    expect((await fencedPost(2n, '/write?what=newer')).status).toBe(201);
    expect(performance.now() - start).toBeLessThan(400);
    gate.resume();
    await waitFor(() => late.length > 0, { what: 'the slow handler' });
    expect(late[0]).toBeInstanceOf(FenceReleasedError);
    expect(await written()).toEqual(['newer']);
  });
});

describe('fencedFetch', () => {
  test('throws StaleTokenError for that 409 alone, and tells regressed from stale', async () => {
    const outcomes: FenceOutcome[] = [];
    const observer = { check: (_: string, outcome: FenceOutcome) => void outcomes.push(outcome) };
    await fencedPost(5n, '/write?what=new');
    const call = (forMs: number, path = '/write?what=old') =>
      fencedFetch(fakeTerm(4n, { forMs }), resource, { observer })(`${url}${path}`, { method: 'POST' });
    const error = await call(5_000).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StaleTokenError);
    expect(error).toMatchObject({ resource, token: 4n, highest: 5n, holder: 'leader 5' });
    await expect(call(0)).rejects.toBeInstanceOf(StaleTokenError);
    const other = await fencedFetch(fakeTerm(6n), resource, { observer })(`${url}/write?what=x&status=409`, {
      method: 'POST',
    });
    expect([other.status, await other.json()]).toEqual([409, { what: 'x' }]);
    expect(outcomes).toEqual(['regressed', 'stale', 'accepted']);
  });

  test('asserts before each call, and gives up on the answer when the term is over', async () => {
    const ended = new AbortController();
    let over = false;
    const term = fakeTerm(1n, {
      signal: ended.signal,
      assert: () => {
        if (over) throw new NotLeadingError('over');
      },
    });
    const call = fencedFetch(term, resource);
    const slow = call(new Request(`${url}/slow`, { method: 'POST', headers: { 'x-own': 'kept' } }));
    slow.catch(() => undefined);
    await gate.reached;
    over = true;
    ended.abort();
    await expect(slow).rejects.toBeInstanceOf(NotLeadingError);
    await expect(call(`${url}/write`)).rejects.toBeInstanceOf(NotLeadingError);
    gate.resume();
  });
});
