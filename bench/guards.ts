/** What a guard costs, beside the same work without it: `npx tsx bench/guards.ts [--json] [--check] [--only postgres|redis|http]`. About a minute. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import express from 'express';
import { Redis as IoRedis } from 'ioredis';
import pg from 'pg';
import { startPostgres, startRedis } from '../deploy/local/index.js';
import type { Guard } from '../src/fencing/index.js';
import { compiled } from './compiled.js';
import { type Comparison, latency, throughput } from './side-by-side.js';

const { presenter } = await compiled<typeof import('../src/fencing/index.js')>('fencing/index.js');
const { fencing } = await compiled<typeof import('../src/fencing/http.js')>('fencing/http.js');
const { postgresGuard } = await compiled<typeof import('../src/fencing/postgres.js')>('fencing/postgres.js');
const { redisGuard } = await compiled<typeof import('../src/fencing/redis.js')>('fencing/redis.js');

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, check: { type: 'boolean' }, only: { type: 'string' } },
});

interface Target {
  readonly limit: number;
  /** `at most` a time's ratio, `at least` a throughput's. */
  readonly kind: 'at most' | 'at least';
}
const rows: (Comparison & { target: Target | undefined })[] = [];
const add = (comparison: Comparison, target?: Target): void => {
  rows.push({ ...comparison, target });
  if (!values.json) console.error(line(comparison, target));
};

/** As long as a lease of a session timeout of ten seconds. */
const term = presenter(7n, { holder: 'bench', timeoutMs: 3_600_000 });

async function postgres(fsync: boolean): Promise<void> {
  await using server = await startPostgres({ fsync, ...(fsync && { settings: { full_page_writes: 'on' } }) });
  const pool = new pg.Pool({ ...server.config, max: 32 });
  const guard = postgresGuard({ pool });
  await guard.migrate();
  await pool.query(`CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
    INSERT INTO account SELECT i, 0 FROM generate_series(0, 99) i;
    CREATE TABLE entry (id bigserial PRIMARY KEY, account int NOT NULL, amount int NOT NULL)`);
  const read = { name: 'read', text: 'SELECT balance FROM account WHERE id = $1 FOR UPDATE' };
  const update = { name: 'update', text: 'UPDATE account SET balance = $2 WHERE id = $1' };
  const insert = { name: 'insert', text: 'INSERT INTO entry (account, amount) VALUES ($1, $2)' };
  /** Books an amount: look, change, keep a record. */
  const book = async (client: Pick<pg.PoolClient, 'query'>, id: number): Promise<void> => {
    const { rows } = await client.query(read, [id]);
    await client.query(update, [id, rows[0].balance + 1]);
    await client.query(insert, [id, 1]);
  };
  /** The least that a transaction can be. */
  const touch = async (client: Pick<pg.PoolClient, 'query'>, id: number): Promise<void> => {
    await client.query(update, [id, 1]);
  };
  const plainly =
    (work: typeof book) =>
    async (id: number): Promise<void> => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await work(client, id);
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    };
  const guardedly =
    (work: typeof book) =>
    (id: number): Promise<void> =>
      guard.transaction(term, `account/${id}`, (tx) => work(tx, id));
  const disk = fsync ? '' : ', fsync off';
  for (const [what, work] of [
    ['a booking', book],
    ['one UPDATE', touch],
  ] as const) {
    const target = fsync && work === book;
    const [plain, guarded] = [plainly(work), guardedly(work)];
    const one = { name: `PostgreSQL, ${what}, 1 writer${disk}`, plain: () => plain(0), guarded: () => guarded(0) };
    add(await latency(one), target ? { kind: 'at most', limit: 1.15 } : undefined);
    const many = { name: `PostgreSQL, ${what}, 32 writers${disk}`, plain, guarded };
    add(await throughput(many, { writers: 32 }), target ? { kind: 'at least', limit: 0.85 } : undefined);
  }
  await pool.end();
}

async function redis(): Promise<void> {
  await using server = await startRedis();
  const client = new IoRedis(server.port, '127.0.0.1');
  const lua = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
  const sha = createHash('sha1').update(lua).digest('hex');
  await client.script('LOAD', lua);
  const guard = redisGuard(client);
  const script = guard.script(lua);
  const keys = [guard.key('counter', 'n')];
  const plain = () => client.evalsha(sha, 1, keys[0] as string, 1);
  const guarded = () => script(term, 'counter', { keys, args: [1] });
  add(await latency({ name: 'Redis, one write at a time', plain, guarded }, { block: 2_000, warmUp: 2_000 }), {
    kind: 'at most',
    limit: 1.25,
  });
  add(await throughput({ name: 'Redis, 32 at a time', plain, guarded }, { writers: 32 }));
  await http('Redis', guard);
  client.disconnect();
}

async function http<Context>(store: string, guard: Guard<Context>): Promise<void> {
  const app = express();
  app.disable('x-powered-by');
  // The guard's own time: the same hold, taken by the handler itself.
  app.post('/plain', async (_request, response) => {
    await guard.hold(presenter(7n, { holder: 'bench', timeoutMs: 10_000 }), 'counter', () => undefined);
    response.json({ fine: true });
  });
  app.post('/guarded', fencing({ guard }), (_request, response) => void response.json({ fine: true }));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { 'fencing-token': '7', 'fencing-resource': 'counter', 'fencing-holder': 'bench' };
  const post = (path: string) => async (): Promise<void> => {
    const call = request({ port, host: '127.0.0.1', path, method: 'POST', agent, headers });
    call.end();
    const [response] = await once(call, 'response');
    response.resume();
    await once(response, 'end');
  };
  const pair = { name: `HTTP middleware before ${store}`, plain: post('/plain'), guarded: post('/guarded') };
  add(await latency(pair, { block: 600, warmUp: 1_500 }), { kind: 'at most', limit: 1.1 });
  agent.destroy();
  server.close();
}

async function httpBeforePostgres(): Promise<void> {
  await using server = await startPostgres();
  const pool = new pg.Pool({ ...server.config, max: 4 });
  const guard = postgresGuard({ pool });
  await guard.migrate();
  await http('PostgreSQL', guard);
  await pool.end();
}

function line({ name, unit, plain, guarded, ratio }: Comparison, target?: Target): string {
  const number = (value: number) => (unit === 'ms' ? value.toFixed(3) : value.toFixed(0)).padStart(8);
  const verdict =
    target === undefined ? '' : `  ${target.kind} ${target.limit}: ${meets(ratio, target) ? 'met' : 'MISSED'}`;
  return `${name.padEnd(52)}${number(plain)}${number(guarded)} ${unit.padEnd(3)} ratio ${ratio.toFixed(3)}${verdict}`;
}

function meets(ratio: number, { kind, limit }: Target): boolean {
  return kind === 'at most' ? ratio <= limit : ratio >= limit;
}

if (!values.json) console.error(`${''.padEnd(52)}   plain guarded`);
const parts: Record<string, () => Promise<void>> = {
  postgres: async () => {
    await postgres(true);
    await postgres(false);
  },
  redis,
  http: httpBeforePostgres,
};
for (const [name, measure] of Object.entries(parts))
  if (values.only === undefined || values.only === name) await measure();
if (values.json) console.log(JSON.stringify(rows, undefined, 2));
if (values.check && rows.some(({ ratio, target }) => target !== undefined && !meets(ratio, target)))
  process.exitCode = 1;
