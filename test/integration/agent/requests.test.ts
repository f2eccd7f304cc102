import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { SidecarProcess } from './sidecar-process.js';

/* What may be sent to the sidecar, by whom, and what it says of the rest. */

const TOKEN = 'correct-horse-battery-staple';

// Real processes on a machine that may be busy with others.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let ensemble: Ensemble;
let sidecar: SidecarProcess;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tenure-agent-'));
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
  sidecar = await (await SidecarProcess.start(ensemble.connectString)).ready();
});

afterAll(async () => {
  await sidecar?.kill();
  await ensemble?.close();
  rmSync(directory, { recursive: true, force: true });
});

const candidacy = (name: string) => `/v1/elections/${name}/candidacy`;
const TTL = { hold: 'ttl', ttlMs: 5_000 };

describe('a request that breaks the rules', () => {
  const bad: readonly [string, string, string, object | string | undefined, number, string, string?][] = [
    ['an unknown path', 'GET', '/v1/nothing', undefined, 404, 'not_found'],
    ['an election that nobody has heard of', 'GET', '/v1/elections/never-heard-of', undefined, 404, 'unknown_election'],
    ['a candidacy that is not there', 'GET', candidacy('none'), undefined, 404, 'no_candidacy'],
    ['malformed JSON', 'PUT', candidacy('bad'), '{"hold":', 400, 'malformed_json'],
    ['JSON that is no object', 'PUT', candidacy('bad'), '[1]', 400, 'invalid_request', '/body'],
    ['an unknown field', 'PUT', candidacy('bad'), { ...TTL, tll: 1 }, 400, 'invalid_request', '/body/tll'],
    [
      'a field of another type',
      'PUT',
      candidacy('bad'),
      { hold: 'ttl', ttlMs: '5' },
      400,
      'invalid_request',
      '/body/ttlMs',
    ],
    [
      'a time to live that is too short',
      'PUT',
      candidacy('bad'),
      { hold: 'ttl', ttlMs: 999 },
      400,
      'invalid_request',
      '/body/ttlMs',
    ],
    ['a hold that there is not', 'PUT', candidacy('bad'), { hold: 'for ever' }, 400, 'invalid_request', '/body/hold'],
    ['no hold', 'PUT', candidacy('bad'), {}, 400, 'invalid_request', '/body/hold'],
    ['no body', 'PUT', candidacy('bad'), undefined, 400, 'invalid_request', '/body/hold'],
    ['no time to live', 'PUT', candidacy('bad'), { hold: 'ttl' }, 400, 'invalid_request', '/body/ttlMs'],
    ['an unknown parameter', 'GET', '/v1/elections/bad?who=me', undefined, 400, 'invalid_request', '/query/who'],
    [
      'a parameter that is given twice',
      'GET',
      `${candidacy('bad')}?id=a&id=b`,
      undefined,
      400,
      'invalid_request',
      '/query/id',
    ],
    ['an id with a line end', 'PUT', `${candidacy('bad')}?id=a%0Ab`, TTL, 400, 'invalid_request', '/query/id'],
    [
      'an id that is too long',
      'PUT',
      `${candidacy('bad')}?id=${'x'.repeat(257)}`,
      TTL,
      400,
      'invalid_request',
      '/query/id',
    ],
    [
      'a name that leads out of its place',
      'PUT',
      candidacy('a%2F..%2Fb'),
      TTL,
      400,
      'invalid_election_name',
      '/path/name',
    ],
    [
      'a name that is reserved',
      'GET',
      '/v1/elections/a%2Fqueue',
      undefined,
      400,
      'invalid_election_name',
      '/path/name',
    ],
    ['a name with a zero byte', 'PUT', candidacy('a%00b'), TTL, 400, 'invalid_election_name', '/path/name'],
    ['a name with an empty segment', 'PUT', candidacy('a%2F%2Fb'), TTL, 400, 'invalid_election_name', '/path/name'],
    ['a name that is too long', 'PUT', candidacy('n'.repeat(257)), TTL, 400, 'invalid_request', '/params/name'],
    ['an escape that is none', 'GET', '/v1/elections/%zz', undefined, 400, 'invalid_request'],
    [
      'metadata that does not fit into a znode',
      'PUT',
      candidacy('bad'),
      { ...TTL, metadata: { a: 'x'.repeat(9_000) } },
      400,
      'candidate_too_large',
    ],
    [
      'a body that is too large',
      'PUT',
      candidacy('bad'),
      { ...TTL, metadata: { a: 'x'.repeat(20_000) } },
      413,
      'body_too_large',
    ],
  ];
  it.each(bad)('%s: %s %s', async (_what, method, path, body, status, code, field) => {
    const answer = await sidecar.ask(method, path, body === undefined ? {} : { body });
    expect(answer.body).toMatchObject({ status, code, type: `urn:tenure:problem:${code}`, instance: path });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    if (field === undefined) return;
    expect(answer.body.errors.map(({ path }: { path: string }) => path)).toContain(field);
    expect(answer.body.detail).toContain(field.split('/').at(-1));
  });

  it('by a wrong method is told the right ones', async () => {
    for (const [method, path, allow] of [
      ['POST', '/v1/elections', 'GET'],
      ['POST', candidacy('a'), 'DELETE, GET, PUT'],
      ['PATCH', candidacy('a'), 'DELETE, GET, PUT'],
      ['DELETE', '/healthz', 'GET'],
      ['HEAD', '/v1/elections/a/events', 'GET'],
    ] as const) {
      const answer = await sidecar.ask(method, path);
      expect(answer.status, `${method} ${path}`).toBe(405);
      expect(answer.headers.get('allow')?.split(', ').sort().join(', ')).toBe(allow);
    }
  });

  it('with a body that is not JSON is refused, whatever it says it is', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const answer = await sidecar.ask('PUT', candidacy('bad'), {
        body: JSON.stringify(TTL),
        headers: { 'content-type': type },
      });
      expect(answer, type).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    }
    const packed = await sidecar.ask('PUT', candidacy('bad'), { body: 'x', headers: { 'content-encoding': 'gzip' } });
    expect(packed).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  it('by a name that clients resolve by themselves is refused as well', async () => {
    for (const path of [
      '/v1/elections/%2E',
      '/v1/elections/a%2F%2E%2E',
      '/v1/elections/..',
      '/v1/elections/../healthz',
    ]) {
      const { status, body } = await sidecar.raw('GET', path);
      expect(JSON.parse(body).code, path).toMatch(/^(invalid_election_name|not_found)$/);
      expect([400, 404]).toContain(status);
    }
  });

  it('leaves nothing behind', async () => {
    expect((await sidecar.ask('GET', '/v1/elections')).body).toEqual({ elections: [] });
    expect((await sidecar.ask('GET', '/healthz')).status).toBe(200);
    expect(await sidecar.ask('HEAD', '/healthz')).toMatchObject({ status: 200, body: '' });
  });
});

describe('names that mean something elsewhere', () => {
  it.each(['__proto__', 'constructor', 'a b', 'ä/☂', '%2e', 'x?y#z', 'hasOwnProperty'])(
    '%s is a name like any other',
    async (name) => {
      const client = await sidecar.join(name, '__proto__');
      const led = await client.until('leading');
      expect(led).toMatchObject({ election: name, id: '__proto__', term: 1 });
      const { body } = await sidecar.ask('GET', '/v1/elections');
      expect(body.elections.map(({ election }: { election: string }) => election)).toEqual([name]);
      await client.leave();
    },
  );
});

describe('who may ask', () => {
  it('is no page of another site, and nobody who calls us by another name', async () => {
    const { port } = new URL(sidecar.url);
    const ask = async (headers: Record<string, string>) => (await sidecar.raw('GET', '/v1/elections', headers)).status;
    expect(await ask({ host: `localhost:${port}` })).toBe(200);
    expect(await ask({ host: `rebound.example:${port}` })).toBe(403);
    expect(await ask({ host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}` })).toBe(200);
    expect(await ask({ host: `127.0.0.1:${port}`, origin: 'http://evil.example' })).toBe(403);
    expect(await ask({ host: `127.0.0.1:${port}`, origin: 'null' })).toBe(403);
    expect(await ask({ host: `127.0.0.1:${port}`, 'sec-fetch-site': 'cross-site' })).toBe(403);
    const health = await sidecar.raw('GET', '/healthz', { host: 'rebound.example' });
    expect(health.status).toBe(403);
  });

  it('gets headers that keep browsers from doing more than they should', async () => {
    const { headers } = await sidecar.ask('GET', '/v1/elections');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('must have the token, where there is one', async () => {
    const file = join(directory, 'token');
    writeFileSync(file, `${TOKEN}\n`);
    await using guarded = await SidecarProcess.start(ensemble.connectString, {
      args: ['--listen', '0.0.0.0:0', '--token-file', file],
    });
    guarded.url = guarded.url.replace('0.0.0.0', '127.0.0.1');
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    for (const path of ['/v1/elections', '/metrics', '/openapi.json', '/v1/status', '/nowhere']) {
      const refused = await guarded.ask('GET', path);
      expect(refused, path).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect((await guarded.ask('GET', path, bearer(`${TOKEN}x`))).status, path).toBe(401);
    }
    expect((await guarded.ask('PUT', candidacy('a'), { body: TTL })).status).toBe(401);
    expect((await guarded.ask('GET', '/healthz')).status).toBe(200);
    expect((await guarded.ask('GET', '/v1/elections', bearer(TOKEN))).status).toBe(200);
    expect(guarded.log).not.toContain(TOKEN);
  });

  it('is nobody beyond this machine unless there is a token', async () => {
    for (const env of [{}, { TENURE_AGENT_TOKEN: 'short' }]) {
      const refused = SidecarProcess.spawn(ensemble.connectString, { args: ['--listen', '0.0.0.0:0'], env });
      expect(await refused.exited).toBe(2);
      expect(refused.log).toMatch(/token/);
      expect(refused.log).not.toContain('short');
    }
  });

  it('may come by a Unix socket, which is for its owner alone and taken over from the dead', async () => {
    const socket = join(directory, 'agent.sock');
    const first = await SidecarProcess.start(ensemble.connectString, { socket });
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    await first.kill();
    await using second = await SidecarProcess.start(ensemble.connectString, { socket });
    expect(second.url).toBe(`unix:${socket}`);
    const third = SidecarProcess.spawn(ensemble.connectString, { socket });
    expect(await third.exited).toBe(1);
    const status = await new Promise((resolve, reject) => {
      httpRequest({ socketPath: socket, path: '/healthz' }, ({ statusCode }) => resolve(statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });

  it('may not come by a file that is no socket, which stays what it is', async () => {
    const file = join(directory, 'precious');
    writeFileSync(file, 'kept');
    const refused = SidecarProcess.spawn(ensemble.connectString, { socket: file });
    expect(await refused.exited).toBe(1);
    expect(refused.log).toContain(file);
    expect(readFileSync(file, 'utf8')).toBe('kept');
  });
});

describe('limits', () => {
  it('are given back by streams that stood behind another answer on a connection that is closed', async () => {
    await using small = await SidecarProcess.start(ensemble.connectString, { args: ['--max-streams', '3'] });
    const { hostname, port, host } = new URL(small.url);
    const path = '/v1/elections/piped/events';
    const piped = connectSocket(Number(port), hostname);
    piped.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(3));
    // How many more are admitted, which are closed again.
    const admitted = async () => {
      const aborted = new AbortController();
      const streams = await Promise.all([1, 2, 3].map(() => fetch(`${small.url}${path}`, { signal: aborted.signal })));
      aborted.abort();
      return streams.filter(({ status }) => status === 200).length;
    };
    await waitFor(async () => (await admitted()) === 0, { what: 'as many streams as there may be' });
    piped.destroy();
    await waitFor(async () => (await admitted()) === 3, { what: 'all of them to be given back' });
  });

  it('hold for elections and for what changes state', async () => {
    await using small = await SidecarProcess.start(ensemble.connectString, {
      args: ['--max-elections', '2', '--max-candidacies', '3', '--max-streams', '1'],
    });
    await small.ready();
    const long = { hold: 'ttl', ttlMs: 600_000 };
    const clients = [await small.join('one', 'a', long), await small.join('two', 'a', long)];
    const third = await small.ask('PUT', candidacy('three'), { body: TTL });
    expect(third).toMatchObject({ status: 503, body: { code: 'too_many_elections' } });
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    clients.push(await small.join('one', 'b', long));
    const fourth = await small.ask('PUT', `${candidacy('one')}?id=c`, { body: TTL });
    expect(fourth).toMatchObject({ status: 503, body: { code: 'too_many_candidacies' } });
    await clients[1]?.leave();
    expect((await small.ask('PUT', candidacy('three'), { body: long })).status).toBe(201);

    const joins = Array.from({ length: 200 }, () => small.ask('PUT', candidacy('four'), { body: TTL }));
    const answers = await Promise.all(joins);
    const slowed = answers.filter(({ status }) => status === 429);
    expect(slowed.length).toBeGreaterThan(0);
    expect(slowed[0]).toMatchObject({ body: { code: 'too_many_requests' } });
    expect(slowed[0]?.headers.get('retry-after')).toBe('1');
    // To go on is never refused.
    expect((await clients[0]?.put())?.status).toBe(200);
    expect((await clients[0]?.leave())?.status).toBe(204);
  });

  it('hold for those who send slowly on purpose', async () => {
    const { hostname, port } = new URL(sidecar.url);
    const slow = (first: string, byte: string) =>
      new Promise<string>((resolve) => {
        const socket = connectSocket(Number(port), hostname);
        let answer = '';
        socket.write(first);
        const timer = setInterval(() => socket.write(byte), 200);
        socket.on('data', (data) => {
          answer += data;
        });
        socket.on('error', () => {});
        socket.once('close', () => {
          clearInterval(timer);
          resolve(answer);
        });
      });
    const [headers, body] = await Promise.all([
      slow(`GET /healthz HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-Slow: `, 'x'),
      slow(
        `PUT ${candidacy('slow')} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{`,
        ' ',
      ),
    ]);
    expect(headers).toMatch(/^HTTP\/1.1 408 /);
    expect(body).toMatch(/^HTTP\/1.1 408 /);
    expect((await sidecar.ask('GET', '/healthz')).status).toBe(200);
  });
});

describe('what it says of itself', () => {
  it('is an OpenAPI document, and metrics of elections and of the quorum', async () => {
    expect((await sidecar.ask('GET', '/openapi.json')).body).toMatchObject({ openapi: '3.1.0' });
    const client = await sidecar.join('measured', 'one');
    await client.until('leading');
    const page = await waitFor(
      async () => {
        const { body } = await sidecar.ask('GET', '/metrics');
        return body.includes('leader_election_quorum_ok') && body;
      },
      { what: 'the quorum in the metrics' },
    );
    expect(page).toMatch(/leader_election_leader_status\{[^}]*election_name="measured"[^}]*\} 1/);
    expect(page).toMatch(/leader_election_quorum_ok\S* 1/);
    await client.leave();
  });
});
