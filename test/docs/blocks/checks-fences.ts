import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { pythonWith } from '../../../deploy/local/toolchains/index.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { presenter } from '../../../src/fencing/presenter.js';
import { redisGuard } from '../../../src/fencing/redis.js';
import { tasks } from '../../../src/fencing/tasks.js';
import { project } from '../markdown.js';
import type { Check } from './check.js';
import { shell } from './shell.js';
import type { World } from './world.js';

/** A database with the fence, and an account that it guards. */
async function books(world: World) {
  const config = await world.database();
  const pool = new pg.Pool({ ...config, max: 2 });
  const guard = postgresGuard({ pool });
  await guard.migrate();
  await pool.query('CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)');
  await pool.query('INSERT INTO account VALUES (7, 500)');
  const balance = async () => (await pool.query('SELECT balance FROM account')).rows[0].balance as number;
  return { config, pool, guard, balance, [Symbol.asyncDispose]: () => pool.end() };
}

const refused = (code: string) => (error: unknown) => (error as { code?: string }).code === code;

const rights: Check = {
  tools: [],
  async run({ code }, world) {
    await using owner = await books(world);
    await tasks({ guard: owner.guard, resource: 'ledger' }).migrate();
    await owner.pool.query("CREATE ROLE worker LOGIN PASSWORD 'worker'");
    const theirs = new pg.Pool({ ...owner.config, user: 'worker', password: 'worker', max: 2 });
    const guard = postgresGuard({ pool: theirs });
    const work = () => tasks({ guard, resource: 'ledger' }).runOnce(presenter(7n), 'once', async () => 'done');
    await assert.rejects(work());
    await owner.pool.query(code);
    assert.equal((await work()).value, 'done');
    // And no others.
    await assert.rejects(theirs.query('DELETE FROM tenure.fence'), refused('42501'));
    await theirs.end();
  },
};

const trigger: Check = {
  tools: [],
  async run({ code }, world) {
    await using owner = await books(world);
    await owner.pool.query(code);
    assert.equal(await owner.balance(), 0);
    await assert.rejects(owner.pool.query('UPDATE account SET balance = 1'), refused('TN428'));
    // It is the fence of the resource that the page names.
    assert.equal((await owner.guard.highest('ledger'))?.token, 4294967311n);
    const older = "BEGIN; SET LOCAL tenure.token = '4294967310'; UPDATE account SET balance = 1; COMMIT;";
    await assert.rejects(owner.pool.query(older), refused('TN409'));
    assert.equal(await owner.balance(), 0);
  },
};

const lua: Check = {
  tools: [],
  async run({ code }, world) {
    const server = await world.redis();
    const client = new Redis(server.port);
    // Another resource than that of the page's other examples, on the same server.
    const key = 'tenure:fence:{lua}';
    const write = (token: string) =>
      client.eval(`${code}\nreturn redis.call('INCR', KEYS[2])`, 2, key, '{lua}:writes', token, 'ann');
    assert.equal(await write('9223372036854775806'), 1);
    assert.equal(await write('9223372036854775806'), 2);
    await assert.rejects(write('9223372036854775805') as Promise<unknown>, /TNSTALE 9223372036854775806 ann/);
    await assert.rejects(write('9') as Promise<unknown>, /TNSTALE/);
    // The module reads what it has written, and the other way round.
    const guard = redisGuard(client);
    assert.equal((await guard.highest('lua'))?.token, 9223372036854775806n);
    await guard.check(presenter(9223372036854775807n), 'lua');
    await assert.rejects(write('9223372036854775806') as Promise<unknown>, /TNSTALE/);
    client.disconnect();
  },
};

const python: Check = {
  tools: ['python3'],
  async run({ code }, world) {
    await using owner = await books(world);
    const place = await world.place();
    const head = 'import os\nimport psycopg\n\nurl, remaining_ms = os.environ["DATABASE_URL"], 5_000\n';
    writeFileSync(join(place.folder, 'page.py'), head + code);
    const program = await pythonWith(join(project, 'examples/python/requirements.txt'));
    const run = (token: string) => {
      const env = { ...place.env, DATABASE_URL: owner.config.url, TENURE_TOKEN: token, TENURE_LEADER_ID: 'ann' };
      return shell(`${program} page.py`, { cwd: place.folder, env });
    };
    assert.equal((await run('8')).code, 0);
    assert.match((await run('7')).all, /'ledger' refused token 7: it has accepted 8/);
    assert.equal(await owner.balance(), 400);
  },
};

export const FENCE_CHECKS: Readonly<Record<string, Check>> = {
  'rights of a worker': rights,
  'trigger of a table': trigger,
  'fence in Lua': lua,
  'fence in Python': python,
};
