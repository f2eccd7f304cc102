import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../deploy/local/index.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { schedule, tasks } from '../../../src/fencing/tasks.js';
import { fakeTerm } from '../../conformance/terms.js';

let server: Postgres;
let owner: pg.Pool;
beforeAll(async () => {
  server = await startPostgres();
  owner = new pg.Pool({ ...server.config, max: 2 });
  await tasks({ guard: postgresGuard({ pool: owner }), resource: 'x' }).migrate();
});
afterAll(async () => {
  await owner?.end();
  await server?.close();
});

test('the rights that the documentation lists are enough for a worker that owns nothing', async () => {
  const docs = readFileSync(new URL('../../../docs/fencing.md', import.meta.url), 'utf8');
  const grants = docs.match(/^GRANT .*;$/gm) ?? [];
  expect(grants).toHaveLength(4);
  await owner.query(`CREATE ROLE worker LOGIN PASSWORD 'w'; ${grants.join('')}`);
  const pool = new pg.Pool({ ...server.config, user: 'worker', password: 'w', max: 4 });
  const work = tasks({ guard: postgresGuard({ pool }), resource: 'rights' });
  await work.migrate();
  await work.runOnce(fakeTerm(1n), 'once', () => 1);
  const term = fakeTerm(2n);
  await work.runSteps(term, 'steps', async (task) => {
    await task.step('outside', () => 1);
    await task.transact('inside', () => 2);
    await task.save({ cursor: 3 });
  });
  expect(await work.unfinished(term)).toEqual([]);
  const stop = new AbortController();
  const ran: string[] = [];
  const failures: unknown[] = [];
  const run = (_: unknown, { job }: { job: string }) => {
    ran.push(job);
    stop.abort();
  };
  await schedule({
    tasks: work,
    jobs: [{ name: 'job', cron: '* * * * * *', run }],
    observer: { failed: (_, error) => void failures.push(error) },
  }).run(term, { signal: stop.signal });
  expect(ran).toEqual(['job']);
  expect(failures).toEqual([]);
  expect(await work.prune(term, { olderThanMs: 0 })).toBeGreaterThan(0);
  await pool.end();
});

test('a trigger on a partitioned table does not see writes that name a partition, one on the partition does', async () => {
  await owner.query(`CREATE TABLE whole (id int) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (10);
    CREATE TRIGGER fenced BEFORE INSERT ON whole FOR EACH STATEMENT EXECUTE FUNCTION tenure.require_fence('parts')`);
  await expect(owner.query('INSERT INTO whole VALUES (1)')).rejects.toMatchObject({ code: 'TN428' });
  await owner.query('INSERT INTO part VALUES (1)');
  await owner.query(
    "CREATE TRIGGER fenced BEFORE INSERT ON part FOR EACH STATEMENT EXECUTE FUNCTION tenure.require_fence('parts')",
  );
  await expect(owner.query('INSERT INTO part VALUES (1)')).rejects.toMatchObject({ code: 'TN428' });
});
