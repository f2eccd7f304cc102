import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { presenter } from '../../../src/fencing/index.js';
import { StaleTokenError, type Term } from '../../../src/index.js';

/* A store with conditional writes, as those of the clouds answer: 412 where the condition doesn't hold. */

interface StoredObject {
  readonly etag: string;
  readonly token: string;
}

let stored: StoredObject | undefined;
let writes = 0;
/** Comes between a writer's look and its write, once. */
let between: (() => void) | undefined;

const store = createServer((request, response) => {
  const { 'if-match': match, 'if-none-match': none, 'x-amz-meta-fencing-token': token } = request.headers;
  if (request.method === 'HEAD') {
    const shown = stored && { etag: stored.etag, 'x-amz-meta-fencing-token': stored.token };
    response.writeHead(stored === undefined ? 404 : 200, shown).end();
    between?.();
    between = undefined;
    return;
  }
  const holds = none === '*' ? stored === undefined : match === stored?.etag;
  if (holds) stored = { etag: `"${++writes}"`, token: String(token) };
  response.writeHead(holds ? 200 : 412).end();
}).listen(0, '127.0.0.1');
await once(store, 'listening');

export type { Term };

const url = `http://127.0.0.1:${(store.address() as AddressInfo).port}/report`;

export async function afterwards({ put }: { put?: (url: string, term: Term, body: string) => Promise<void> }) {
  assert(put !== undefined);
  // It looks at the token and asserts the term, no more.
  const write = (token: bigint) => put(url, presenter(token) as unknown as Term, 'text');
  await write(7n);
  await write(7n);
  await write(9n);
  await assert.rejects(write(8n), StaleTokenError);
  between = () => {
    stored = { etag: '"by another"', token: '10' };
  };
  // A newer term writes between the look and the write: its condition fails, it looks again, and is refused.
  await assert.rejects(write(9n), StaleTokenError);
  assert.deepEqual([stored?.token, writes], ['10', 3]);
}
