import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { waitFor } from '../../../deploy/local/index.js';
import { InvalidOptionError } from '../../../src/errors.js';
import { fencing, PROBLEM_TYPES } from '../../../src/fencing/http.js';
import type { Guard } from '../../../src/fencing/index.js';
import { pause } from '../../conformance/guard.js';

/** Lets everybody in, when the test says so: what is tested here comes before the fence, and right behind it. */
let fence: () => Promise<void> = async () => undefined;
const guard: Guard<null> = {
  async hold(_term, _resource, work) {
    await fence();
    return await work(null);
  },
  check: async () => undefined,
  highest: async () => null,
};
const entered: string[] = [];
const failed: unknown[] = [];
let port: number;
let close: () => void;

beforeAll(async () => {
  const byHeader = fencing({ guard });
  const byRoute = fencing({
    guard,
    resource: (request) => {
      if (request.url === '/fails') throw new Error('no such route');
      return decodeURIComponent(request.url as string);
    },
  });
  // No framework that would catch what a middleware throws.
  const server = createServer((request, response) => {
    const fenced = request.url === '/' ? byHeader : byRoute;
    fenced(request, response, (error) => {
      if (error !== undefined) {
        failed.push(error);
        response.writeHead(500).end();
        return;
      }
      entered.push(fenced.of(request).resource);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  close = () => {
    server.close();
    server.closeAllConnections();
  };
});
afterAll(() => close?.());
beforeEach(() => {
  entered.length = 0;
  failed.length = 0;
  fence = async () => undefined;
});

/** As the bytes that they are: clients that are careful would not send these. */
async function raw(path: string, ...headers: string[]): Promise<{ status: number; body: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.end(
    [`POST ${path} HTTP/1.1`, 'Host: x', 'Connection: close', 'Content-Length: 0', ...headers, '', ''].join('\r\n'),
  );
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return { status: Number(text.slice(9, 12)), body: text };
}

describe('headers that could be read as another name', () => {
  test.each([
    [['Fencing-Token: 1', 'Fencing-Resource: ledger', 'Fencing-Resource: ledger']],
    [['Fencing-Token: 1', 'Fencing-Resource: ledger', 'Fencing-Resource: other']],
    [['Fencing-Token: 1', 'Fencing-Token: 1', 'Fencing-Resource: ledger']],
    [['Fencing-Token: 1', 'Fencing-Token: 2', 'Fencing-Resource: ledger']],
    [['Fencing-Token: 1', 'Fencing-Resource: ledger, ledger']],
    [['Fencing-Token: 1', 'Fencing-Resource: led,ger']],
    [['Fencing-Token: 1', 'Fencing-Resource: led ger']],
    [['Fencing-Token: 1', 'Fencing-Resource: kontobücher']],
  ])('%j are refused', async (headers) => {
    const { status, body } = await raw('/', ...headers);
    expect(status).toBe(400);
    expect(body).toContain(PROBLEM_TYPES.malformed);
    expect(entered).toEqual([]);
  });

  test('and percent-encoded they are not; nor is a request refused for who else may have sent it', async () => {
    const name = "led, ger/ü!*'()~-_.";
    const { status } = await raw(
      '/',
      'Fencing-Token: 1',
      `Fencing-Resource: ${encodeURIComponent(name)}`,
      'Fencing-Holder: a',
      'Fencing-Holder: b',
    );
    expect(status).toBe(200);
    expect(entered).toEqual([name]);
  });
});

describe('a route’s own function', () => {
  test('that can’t decode the path makes it a bad request', async () => {
    const { status, body } = await raw('/%E0%A4%A', 'Fencing-Token: 1');
    expect(status).toBe(400);
    expect(body).toContain(PROBLEM_TYPES.malformed);
  });

  test('that throws something else is the application’s to answer', async () => {
    expect((await raw('/fails', 'Fencing-Token: 1')).status).toBe(500);
    expect(failed).toEqual([expect.objectContaining({ message: 'no such route' })]);
  });
});

test('a client that left while it waited for the fence is not served', async () => {
  const gate = pause();
  let over = false;
  fence = async () => {
    await gate.pause();
    over = true;
  };
  const call = send({ port, path: '/r', method: 'POST', headers: { 'fencing-token': '1' } });
  call.on('error', () => undefined);
  call.end();
  await gate.reached;
  call.destroy();
  // The server learns of it by itself; there is nothing of ours to wait for.
  await new Promise((resolve) => setTimeout(resolve, 100));
  gate.resume();
  await waitFor(() => over, { what: 'the fence' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(entered).toEqual([]);
});

test.each([
  { timeoutMs: Number.POSITIVE_INFINITY },
  { timeoutMs: 2 ** 31 },
  { timeoutMs: Number.NaN },
  { timeoutMs: 0 },
  { timeoutMs: '1000' as unknown as number },
  { waitMs: Number.POSITIVE_INFINITY },
  { waitMs: -1 },
])('%j is refused when the middleware is made', (times) => {
  expect(() => fencing({ guard, ...times })).toThrow(InvalidOptionError);
});
