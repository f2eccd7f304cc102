import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NotLeadingError } from '../../../src/errors.js';
import { fencedFetch } from '../../../src/fencing/http.js';
import type { FenceOutcome } from '../../../src/fencing/index.js';
import { fakeTerm } from '../../conformance/terms.js';

let url: string;
let elsewhere: string;
const strangers: IncomingHttpHeaders[] = [];
const closing: (() => void)[] = [];

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  elsewhere = await serve((request, response) => {
    strangers.push(request.headers);
    response.end('elsewhere');
  });
  url = await serve((request, response) => {
    if (request.url === '/moved') response.writeHead(307, { location: `${elsewhere}/` }).end();
    else if (request.url === '/empty') response.writeHead(204).end();
    else if (request.url === '/whole') response.writeHead(201, { 'x-own': 'kept' }).end('{"whole":true}');
    // A body that begins and doesn't end.
    else response.writeHead(200).write('first');
  });
});
afterAll(() => {
  for (const close of closing) close();
});
beforeEach(() => {
  strangers.length = 0;
});

describe('a redirect', () => {
  test.each([undefined, 'follow', 'manual'] as const)(
    'under %s is returned, and the token goes nowhere else',
    async (redirect) => {
      const outcomes: FenceOutcome[] = [];
      const send = fencedFetch(fakeTerm(1n), 'r', { observer: { check: (_, outcome) => void outcomes.push(outcome) } });
      const response = await send(`${url}/moved`, { method: 'POST', ...(redirect && { redirect }) });
      expect([response.status, response.headers.get('location')]).toEqual([307, `${elsewhere}/`]);
      expect((await send(new Request(`${url}/moved`))).status).toBe(307);
      expect([strangers, outcomes]).toEqual([[], []]);
    },
  );

  test('can be an error', async () => {
    const send = fencedFetch(fakeTerm(1n), 'r');
    await expect(send(`${url}/moved`, { redirect: 'error' })).rejects.toBeInstanceOf(TypeError);
    await expect(send(new Request(`${url}/moved`, { redirect: 'error' }))).rejects.toBeInstanceOf(TypeError);
    expect(strangers).toEqual([]);
  });
});

describe('the body of an answer', () => {
  const endless = () => {
    let over = false;
    const term = fakeTerm(1n, {
      assert: () => {
        if (over) throw new NotLeadingError('over');
      },
    });
    return { term, end: () => (over = true) };
  };

  test('is waited for while the term lasts, and no longer', async () => {
    const { term, end } = endless();
    const response = await fencedFetch(term, 'r')(`${url}/endless`);
    const text = response.text();
    setTimeout(end, 50);
    await expect(text).rejects.toBeInstanceOf(NotLeadingError);
  });

  test('that was there before is not read after the end of the term', async () => {
    const { term, end } = endless();
    const response = await fencedFetch(term, 'r')(`${url}/whole`);
    end();
    await expect(response.text()).rejects.toBeInstanceOf(NotLeadingError);
  });

  test('is otherwise as ever', async () => {
    const send = fencedFetch(fakeTerm(1n), 'r');
    const response = await send(`${url}/whole`);
    expect([response.status, response.ok, response.url, response.headers.get('x-own')]).toEqual([
      201,
      true,
      `${url}/whole`,
      'kept',
    ]);
    expect(await response.clone().json()).toEqual({ whole: true });
    expect(await response.json()).toEqual({ whole: true });
    expect(await (await send(`${url}/empty`)).text()).toBe('');
    const unread = await send(`${url}/endless`);
    await unread.body?.cancel();
  });
});
