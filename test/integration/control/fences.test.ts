import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import express from 'express';
import pg from 'pg';
import { expect, it } from 'vitest';
import { startPostgres, startRedis } from '../../../deploy/local/index.js';
import { openFence, raiseFence } from '../../../src/cli/fences.js';
import { fileGuard } from '../../../src/fencing/file.js';
import { fencing } from '../../../src/fencing/http.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { presenter } from '../../../src/fencing/presenter.js';

/* An operator reaches the fence of a resource by its URL, whatever keeps it. */

/** Nothing accepted, then raised; never lowered. `old` is what a leader of before is told. */
async function judge(url: string, old: (token: bigint) => Promise<unknown>): Promise<void> {
  const fence = await openFence(url);
  try {
    expect(await fence.highest()).toBeNull();
    await old(40n);
    expect((await fence.highest())?.token).toBe(40n);
    expect(await raiseFence(fence, 41n, 'operator: ada')).toEqual({ token: 41n, holder: 'operator: ada' });
    expect(await fence.highest()).toEqual({ token: 41n, holder: 'operator: ada' });
    await expect(old(40n)).rejects.toMatchObject({ code: 'STALE_TOKEN', highest: 41n });
    // Somebody has gone further already: that is told, and is no failure.
    await old(60n);
    expect((await raiseFence(fence, 50n, 'operator: ada')).token).toBe(60n);
  } finally {
    await fence.close();
  }
}

it('PostgreSQL, in the schema that the URL names', async () => {
  const server = await startPostgres();
  const pool = new pg.Pool({ ...server.config, max: 2 });
  pool.on('error', () => undefined);
  const guard = postgresGuard({ pool }, { schema: 'other' });
  await guard.migrate();
  await judge(`${server.url}?schema=other#ledger`, (token) => guard.check(presenter(token), 'ledger'));
  // Not installed where it is looked for: said with the cure, and with no password.
  const fence = await openFence(`${server.url}#ledger`);
  expect(fence.shown).not.toContain(server.config.password);
  await expect(fence.highest()).rejects.toMatchObject({ code: 'FENCING_NOT_INSTALLED' });
  await fence.close();
  await pool.end();
  await server.close();
  const away = await openFence(`${server.url}#ledger`).catch((error: Error) => error);
  expect(away).toMatchObject({ code: 'FENCE_UNREACHABLE' });
  expect((away as Error).message).not.toContain(server.config.password);
}, 60_000);

it('Redis', async () => {
  const server = await startRedis({ appendOnly: true });
  const { Redis } = await import('ioredis');
  const { redisGuard } = await import('../../../src/fencing/redis.js');
  const client = new Redis(server.port, server.host);
  const guard = redisGuard(client, { prefix: 'mine' });
  const url = `redis://${server.host}:${server.port}?prefix=mine#ledger`;
  await judge(url, (token) => guard.check(presenter(token), 'ledger'));
  client.disconnect();
  await server.close();
  await expect(openFence(url)).rejects.toMatchObject({ code: 'FENCE_UNREACHABLE' });
}, 60_000);

it('files, by a path and by a URL', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tenure-fences-'));
  const guard = fileGuard({ directory });
  await judge(`${directory}#le%20dger`, (token) => guard.check(presenter(token), 'le dger'));
  await judge(`file://${directory}#other`, (token) => guard.check(presenter(token), 'other'));
  await rm(directory, { recursive: true, force: true });
});

it('a service behind the middleware, and one that is not', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tenure-fences-'));
  const guard = fileGuard({ directory });
  const fenced = fencing({ guard, resource: () => 'ledger' });
  const app = express();
  app.get('/books', fenced, (_request, response) => void response.send('here they are'));
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // It tells its highest token to those alone whom it refuses: a first question is accepted, as the lowest of all.
  const fence = await openFence(`${origin}/books#ledger`);
  expect(await fence.highest()).toBeNull();
  await guard.check(presenter(40n), 'ledger');
  expect((await fence.highest())?.token).toBe(40n);
  expect((await raiseFence(fence, 41n, 'operator: ada')).token).toBe(41n);
  expect(await guard.highest('ledger')).toEqual({ token: 41n, holder: 'operator: ada' });
  expect((await raiseFence(fence, 30n, 'operator: ada')).token).toBe(41n);
  const elsewhere = await openFence(`${origin}/nowhere#ledger`);
  await expect(elsewhere.highest()).rejects.toMatchObject({ code: 'FENCE_UNREACHABLE' });
  server.close();
  server.closeAllConnections();
  await expect(fence.highest()).rejects.toMatchObject({ code: 'FENCE_UNREACHABLE' });
  await rm(directory, { recursive: true, force: true });
});

it('says which package is missing where it is', async () => {
  const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
  const hooks = `export async function resolve(name, context, next) {
    if (['pg', 'ioredis', 'redis'].includes(name)) throw new Error('not here');
    return next(name, context);
  }`;
  const absent = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`;
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const run = (url: string) =>
    promisify(execFile)(
      process.execPath,
      ['--import', tsx, '--import', `data:text/javascript,${encodeURIComponent(absent)}`, main, 'fence', 'x', url],
      { cwd: tmpdir(), env: { ...process.env, NODE_PATH: '' } },
    ).then(
      () => '',
      (error: { stderr: string }) => error.stderr,
    );
  expect(await run('postgres://db/books#ledger')).toMatch(/needs the package pg, .*npm install pg \[CLIENT_MISSING\]/);
  expect(await run('redis://db#ledger')).toMatch(/needs the package ioredis or redis, .*npm install ioredis/);
}, 60_000);
