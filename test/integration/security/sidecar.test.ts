import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { Agent } from '../../../src/agent/agent.js';
import { silentLogger } from '../../../src/election/host.js';
import { startTelemetry } from '../../../src/telemetry/index.js';
import { Operator } from '../../support/operator.js';
import { SidecarProcess } from '../agent/sidecar-process.js';

/* Tricks with names, bodies and tokens, against the sidecar. */

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const TOKEN = 'correct-horse-battery-staple';
const TTL = { hold: 'ttl', ttlMs: 5_000 };

let ensemble: Ensemble;
let sidecar: SidecarProcess;
let operator: Operator;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tenure-tricks-'));
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
  operator = await Operator.at(ensemble.connectString, { root: '/tenure' });
  sidecar = await (await SidecarProcess.start(ensemble.connectString)).ready();
});

afterAll(async () => {
  await operator?.close();
  await sidecar?.kill();
  await ensemble?.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

/** Sends the path exactly as it is given, which clients that know URLs wouldn't. */
function exactly(method: string, path: string, body?: string, url = sidecar.url, headers = {}): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const type =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, headers: { ...type, ...headers } }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    // Past the check of the client.
    request.path = path;
    request.once('error', reject);
    request.end(body);
  });
}

/** All znodes below a path, but for histories: those are written later, at no particular moment. */
async function tree(path: string): Promise<string[]> {
  const { names = [] } = (await operator.session.children(path)) ?? {};
  const below = await Promise.all(names.map((name) => tree(`${path === '/' ? '' : path}/${name}`)));
  return [path, ...below.flat()].filter((each) => !each.endsWith('/history')).sort();
}

describe('a name', () => {
  // What it looks like in the path, and the election that it is; null where it is none.
  const names: readonly [what: string, written: string, name: string | null][] = [
    ['of the prototype', '__proto__', '__proto__'],
    ['of the prototype, within', 'a%2F__proto__%2Fb', 'a/__proto__/b'],
    ['of a constructor', 'constructor', 'constructor'],
    ['of a method', 'toString', 'toString'],
    ['that leads up', '..', null],
    ['that leads up, encoded', '%2e%2e', null],
    ['that leads up, half encoded', '.%2e', null],
    ['that leads up from within', 'a%2F..%2F..%2Fzookeeper', null],
    ['that leads up, encoded twice, is a name without meaning', '%252e%252e', '%2e%2e'],
    ['that leads up, by full-width dots, is a name without meaning', encodeURIComponent('．．'), '．．'],
    ['that stands still', '%2e', null],
    ['with slashes, encoded twice, has none', 'a%252Fb', 'a%2Fb'],
    ['with look-alikes of a slash has none', encodeURIComponent('a∕b⁄c／d'), 'a∕b⁄c／d'],
    ['with a backslash', 'a%5C..%5Cb', 'a\\..\\b'],
    ['with a zero byte', 'a%00b', null],
    ['with a zero byte at its end', 'a%00', null],
    ['with a line end', 'a%0D%0AX-Evil:%20yes', null],
    ['with a lone surrogate', '%ED%A0%80', null],
    ['with an overlong slash', 'a%C0%AFb', null],
    ['with a private character', encodeURIComponent('a\ue000'), null],
    ['beyond the basic plane', encodeURIComponent('a😀'), null],
    ['of our own znodes', 'a%2Fqueue', null],
    ['of our own znodes, in capitals, is another', 'a%2FQueue', 'a/Queue'],
    ['of our own znodes by a Greek letter, is another', encodeURIComponent('a/termη'), 'a/termη'],
    ['of ZooKeeper’s znode', 'zookeeper', null],
    ['that begins with a slash', '%2Fa', null],
    ['that ends with a slash', 'a%2F', null],
    ['with an empty segment', 'a%2F%2Fb', null],
    ['that is a blank', '%20', ' '],
    ['of 256 characters', 'n'.repeat(256), 'n'.repeat(256)],
    ['of 257 characters', 'n'.repeat(257), null],
    ['of 20,000 characters', 'n'.repeat(20_000), null],
    ['composed otherwise is another', encodeURIComponent('e\u0301'), 'e\u0301'],
  ];

  it.each(names)('%s', async (_what, written, name) => {
    const before = await tree('/');
    const path = `/v1/elections/${written}/candidacy?id=one`;
    const { status, body } = await exactly('PUT', path, JSON.stringify(TTL));
    if (name === null) {
      expect([400, 404, 431]).toContain(status);
      if (status !== 431) expect(JSON.parse(body).code).toMatch(/^(invalid_election_name|invalid_request|not_found)$/);
      expect(body).not.toMatch(/\n\s+at /);
      // Not a znode more, wherever; one less there may be, of the candidacy before.
      expect((await tree('/')).filter((each) => !before.includes(each))).toEqual([]);
      return;
    }
    expect(status, body).toBe(201);
    const { election, key } = JSON.parse(body);
    expect(election).toBe(name);
    const leading = await waitFor(
      async () => {
        const answer = JSON.parse((await exactly('GET', path, undefined, sidecar.url, { 'candidacy-key': key })).body);
        return answer.state === 'leading' && answer;
      },
      { what: 'it to lead' },
    );
    expect(leading).toMatchObject({ election: name, id: 'one', term: 1 });
    // It lies where its name says, and nowhere else.
    const created = (await tree('/')).filter((each) => !before.includes(each));
    const mine = created.filter((each) => !/^\/tenure(\/sessions(\/.*)?)?$/.test(each));
    expect(mine.length).toBeGreaterThan(2);
    const [first = ''] = name.split('/');
    for (const each of mine) expect(each.startsWith(`/tenure/${first}`), each).toBe(true);
    expect(mine).toContain(`/tenure/${name}/term`);
    expect((await exactly('DELETE', path, undefined, sidecar.url, { 'candidacy-key': key })).status).toBe(204);
  });
});

describe('a body', () => {
  const put = (body: string) => exactly('PUT', '/v1/elections/body/candidacy?id=one', body);
  const bodies: readonly [what: string, body: string, status: number][] = [
    ['with a prototype', '{"hold":"ttl","ttlMs":5000,"__proto__":{"hold":"stream"}}', 400],
    ['with a prototype alone', '{"__proto__":{"hold":"ttl","ttlMs":5000}}', 400],
    ['with a constructor', '{"hold":"ttl","ttlMs":5000,"constructor":{"prototype":{"polluted":true}}}', 400],
    ['with a field twice', '{"hold":"ttl","ttlMs":5000,"ttlMs":"x"}', 400],
    ['with a number beyond all', '{"hold":"ttl","ttlMs":1e999}', 400],
    ['with a fraction', '{"hold":"ttl","ttlMs":5000.5}', 400],
    [
      'that is nested deeply',
      `{"hold":"ttl","ttlMs":5000,"metadata":${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}}`,
      400,
    ],
    ['that is an array', '[{"hold":"ttl","ttlMs":5000}]', 400],
    ['that is text', '"ttl"', 400],
    ['with a zero byte', '{"hold":"ttl\u0000","ttlMs":5000}', 400],
    ['in another encoding', Buffer.from('{"hold":"ttl"}', 'utf16le').toString('latin1'), 400],
  ];

  it.each(bodies)('%s is refused, and changes nothing for others', async (_what, body, status) => {
    const answer = await put(body);
    expect(answer.status, answer.body).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ status });
    expect(answer.body).not.toMatch(/\n\s+at /);
    const next = await sidecar.ask('PUT', '/v1/elections/body/candidacy?id=two', { body: {} });
    expect(next).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect((await sidecar.ask('GET', '/v1/status')).body).not.toHaveProperty('polluted');
  });

  it('may say anything in metadata, which comes out as it went in', async () => {
    const metadata =
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"then":1,"toJSON":"x"}';
    const joined = await put(`{"hold":"ttl","ttlMs":5000,"metadata":${metadata}}`);
    expect(joined.status, joined.body).toBe(201);
    const headers = { 'candidacy-key': JSON.parse(joined.body).key };
    const view = await waitFor(
      async () => {
        const { status, body } = await exactly('GET', '/v1/elections/body');
        return status === 200 && JSON.parse(body).leader !== null && body;
      },
      { what: 'it to lead' },
    );
    expect(view).toContain('"then":1');
    expect(JSON.parse(view).leader).not.toHaveProperty('polluted');
    expect((await sidecar.ask('GET', '/v1/status')).body).not.toHaveProperty('polluted');
    await exactly('DELETE', '/v1/elections/body/candidacy?id=one', undefined, sidecar.url, headers);
  });
});

describe('with a token', () => {
  it('all wrong ones are refused alike, whatever their length and form', async () => {
    const file = join(directory, 'token');
    writeFileSync(file, TOKEN);
    await using guarded = await SidecarProcess.start(ensemble.connectString, {
      args: ['--listen', '0.0.0.0:0', '--token-file', file],
    });
    const url = guarded.url.replace('0.0.0.0', '127.0.0.1');
    const ask = (authorization?: string) =>
      exactly('GET', '/v1/elections', undefined, url, authorization === undefined ? {} : { authorization });
    expect((await ask(`Bearer ${TOKEN}`)).status).toBe(200);
    const wrong = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${TOKEN}`,
      TOKEN,
      `Bearer ${TOKEN}, Bearer x`,
      `Bearer ${TOKEN.slice(0, 1)}`,
      `Bearer ${TOKEN.slice(0, -1)}`,
      `Bearer ${TOKEN.slice(1)}`,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN}${TOKEN}`,
      `Bearer ${TOKEN.replace('c', 'd')}`,
      `Bearer ${TOKEN.toUpperCase()}`,
      `Bearer ${'x'.repeat(TOKEN.length)}`,
      `Bearer ${'x'.repeat(8_000)}`,
      `Bearer ${TOKEN}\u00a0`,
      'Bearer null',
      'Bearer undefined',
      'Bearer [object Object]',
    ];
    const answers = await Promise.all(wrong.map(ask));
    const seen = answers.map(({ status, body, headers: { date: _date, ...headers } }) => ({ status, body, headers }));
    for (const [index, answer] of seen.entries()) {
      expect(answer.status, wrong[index]).toBe(401);
      expect(answer, wrong[index]).toEqual(seen[0]);
    }
    // By a query or a cookie it is none.
    expect((await exactly('GET', `/v1/elections?access_token=${TOKEN}`, undefined, url)).status).toBe(401);
    expect((await exactly('GET', '/v1/elections', undefined, url, { cookie: `token=${TOKEN}` })).status).toBe(401);
    // Nor is anything open by another spelling of what is.
    for (const path of [
      '/healthz/../v1/elections',
      '/healthz%2F..%2Fv1%2Felections',
      '//healthz/v1/elections',
      '/v1/elections/?/healthz',
    ])
      expect((await exactly('GET', path, undefined, url)).status, path).toBe(401);
  });
});

describe('what changes state', () => {
  it('is limited, each way of it; what is not limited is to go on and to leave', async () => {
    const telemetry = await startTelemetry({ serviceName: 'limited', prometheus: false });
    const agent = await Agent.start({
      connect: { servers: ensemble.connectString, driver: 'wire' },
      listen: { host: '127.0.0.1', port: 0 },
      id: 'limited',
      deadlineMs: 2_000,
      drainTimeoutMs: 0,
      // So slow that what is used up stays used up.
      limits: { elections: 9, candidacies: 9, streams: 9, bodyBytes: 9_000, changesPerSecond: 1e-6, stallMs: 9_000 },
      observe: [],
      token: null,
      allowedHosts: [],
      telemetry,
      logger: silentLogger,
    });
    try {
      const ask = async (method: string, path: string, body?: object, headers = {}) =>
        exactly(method, path, body === undefined ? undefined : JSON.stringify(body), agent.url, headers);
      const own = '/v1/elections/limited/candidacy?id=one';
      const joined = await ask('PUT', own, { hold: 'ttl', ttlMs: 60_000 });
      expect(joined.status).toBe(201);
      const headers = { 'candidacy-key': JSON.parse(joined.body).key };
      let allowed = 1;
      let last = await ask('DELETE', '/v1/hold');
      for (; last.status === 200; last = await ask('DELETE', '/v1/hold')) allowed += 1;
      expect(last.status, last.body).toBe(429);
      expect(allowed).toBeLessThan(100);
      const changes: readonly [string, string, object?][] = [
        ['PUT', '/v1/elections/other/candidacy?id=x', { hold: 'ttl', ttlMs: 1_000 }],
        ['POST', '/v1/elections/limited/pause', { by: 'x', reason: 'x' }],
        ['POST', '/v1/elections/limited/resume', { by: 'x' }],
        ['POST', '/v1/elections/limited/transfer', { by: 'x', to: 'nobody', reason: 'x' }],
        ['POST', '/v1/hold', { reason: 'x' }],
        ['DELETE', '/v1/hold'],
      ];
      for (const [method, path, body] of changes) {
        const answer = await ask(method, path, body);
        expect(answer.status, `${method} ${path}: ${answer.body}`).toBe(429);
        expect(JSON.parse(answer.body)).toMatchObject({ code: 'too_many_requests' });
        expect(answer.headers['retry-after']).toBe('1');
      }
      // All that the document says may change something is among these, or is the holder's own.
      const { paths } = JSON.parse((await ask('GET', '/openapi.json')).body) as { paths: Record<string, object> };
      const methods = Object.entries(paths).flatMap(([path, item]) =>
        Object.keys(item)
          .filter((method) => ['put', 'post', 'delete', 'patch'].includes(method))
          .map((method) => `${method.toUpperCase()} ${path}`),
      );
      const tried = changes.map(([method, path]) => `${method} ${path.replace(/\?.*/, '')}`);
      expect(methods.sort()).toEqual(
        [
          ...tried.map((each) => each.replace(/elections\/\w+/, 'elections/{name}')),
          'DELETE /v1/elections/{name}/candidacy',
        ].sort(),
      );
      expect((await ask('PUT', own, {}, headers)).status).toBe(200);
      expect((await ask('DELETE', own, undefined, headers)).status).toBe(204);
    } finally {
      await agent.close();
    }
  });
});

describe('every answer', () => {
  const answers: readonly [string, string, (string | undefined)?, object?][] = [
    ['GET', '/'],
    ['GET', '/healthz'],
    ['GET', '/readyz'],
    ['GET', '/metrics'],
    ['GET', '/openapi.json'],
    ['GET', '/v1/status'],
    ['GET', '/v1/elections'],
    ['GET', '/v1/elections/none'],
    ['GET', '/v1/elections/none/leader'],
    ['GET', '/v1/elections/none/candidacy'],
    ['DELETE', '/v1/elections/none/candidacy'],
    ['HEAD', '/healthz'],
    ['OPTIONS', '/v1/elections'],
    ['TRACE', '/v1/elections'],
    ['GET', '/v1/elections/%zz'],
    ['GET', '/nowhere'],
    ['PATCH', '/v1/elections'],
    ['PUT', '/v1/elections/a/candidacy', '{'],
    ['PUT', '/v1/elections/a/candidacy', `"${'x'.repeat(40_000)}"`],
    ['POST', '/v1/elections/none/pause', '{"by":"x","reason":"y"}'],
    ['GET', '/v1/elections', undefined, { host: 'evil.example' }],
    ['GET', '/v1/elections', undefined, { origin: 'http://evil.example' }],
    ['GET', '/healthz', undefined, { origin: 'null' }],
  ];
  it.each(answers)('%s %s has the headers that keep browsers in their place', async (method, path, body, headers) => {
    const answer = await exactly(method, path, body, sidecar.url, headers);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    for (const header of ['access-control-allow-origin', 'x-powered-by', 'server', 'etag']) {
      expect(answer.headers).not.toHaveProperty(header);
    }
    expect(answer.status).toBeLessThan(600);
  });

  it('that is a stream has them, too', async () => {
    const response = await fetch(`${sidecar.url}/v1/elections/none/events`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': expect.stringContaining('no-store'),
      'content-type': expect.stringContaining('text/event-stream'),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    await response.body?.cancel();
  });
});
