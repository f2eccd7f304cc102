import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { term } from './term.js';

export { term };

const heard: unknown[] = [];
const ledger = createServer((request, response) => {
  heard.push([request.method, request.url, request.headers['fencing-token'], request.headers['fencing-resource']]);
  response.writeHead(201).end();
}).listen(0, '127.0.0.1');
await once(ledger, 'listening');

// The page's host stands for this one.
const { port } = ledger.address() as AddressInfo;
const { fetch } = globalThis;
globalThis.fetch = (input, init) =>
  fetch(String(input).replace('https://ledger.example', `http://127.0.0.1:${port}`), init);

export async function afterwards(): Promise<void> {
  assert.deepEqual(heard, [['POST', '/payments', String(term.token), 'ledger']]);
}
