import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../deploy/local/index.js';
import { StaleTokenError } from '../../../src/errors.js';
import { type PostgresGuard, postgresGuard } from '../../../src/fencing/postgres.js';
import { type TaskSteps, type Tasks, tasks } from '../../../src/fencing/tasks.js';
import { pause } from '../../conformance/guard.js';
import { fakeTerm } from '../../conformance/terms.js';
import { startChild } from './child.js';

let server: Postgres;
let pool: pg.Pool;
let guard: PostgresGuard<pg.PoolClient>;
let work: Tasks<pg.PoolClient>;
let duplicates: string[];
let made = 0;

beforeAll(async () => {
  server = await startPostgres();
  pool = new pg.Pool({ ...server.config, max: 12 });
  pool.on('error', () => undefined);
  guard = postgresGuard({ pool });
  const migrating = Array.from({ length: 4 }, () => tasks({ guard, resource: 'x' }).migrate());
  await Promise.all(migrating);
  await pool.query('CREATE TABLE paid (what text)');
});
afterAll(async () => {
  await pool?.end();
  await server?.close();
});
beforeEach(async () => {
  made += 1;
  duplicates = [];
  work = newTasks(`tasks-${made}`);
  await pool.query('TRUNCATE paid');
});

function newTasks(resource: string): Tasks<pg.PoolClient> {
  return tasks({
    guard,
    resource,
    observer: { duplicate: (outcome, key) => void duplicates.push(`${outcome} ${key}`) },
  });
}
const paid = async (): Promise<string[]> => (await pool.query('SELECT what FROM paid')).rows.map((row) => row.what);

describe('runOnce', () => {
  test('runs once of ten calls at the same time; all get what the one returned', async () => {
    const term = fakeTerm(1n);
    let runs = 0;
    const results = await Promise.all(
      Array.from({ length: 10 }, () =>
        work.runOnce(term, 'k', async (tx) => {
          runs += 1;
          await tx.query("INSERT INTO paid VALUES ('once')");
          return { amount: 5, when: new Date(0) as unknown };
        }),
      ),
    );
    expect(runs).toBe(1);
    expect(await paid()).toEqual(['once']);
    expect(results.filter((result) => result.executed)).toHaveLength(1);
    // As JSON gives it back, to the one that ran it as well.
    for (const { value } of results) expect(value).toEqual({ amount: 5, when: '1970-01-01T00:00:00.000Z' });
    expect(duplicates).toEqual(Array(9).fill('suppressed k'));
  });

  test('a successor gets the result; the older term gets nothing', async () => {
    await work.runOnce(fakeTerm(1n), 'k', () => 'first');
    expect(await work.runOnce(fakeTerm(2n), 'k', () => 'second')).toEqual({ value: 'first', executed: false });
    await expect(work.runOnce(fakeTerm(1n), 'k', () => 'third')).rejects.toBeInstanceOf(StaleTokenError);
    await expect(work.runOnce(fakeTerm(1n), 'other', () => 'third')).rejects.toBeInstanceOf(StaleTokenError);
  });

  test('work that fails leaves no trace, and can be asked for again', async () => {
    const term = fakeTerm(1n);
    const failing = work.runOnce(term, 'k', async (tx) => {
      await tx.query("INSERT INTO paid VALUES ('half')");
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await expect(work.runOnce(term, 'k', () => 1n)).rejects.toThrow(/BigInt/);
    expect(await work.unfinished(term)).toEqual([]);
    expect(await work.runOnce(term, 'k', () => undefined)).toEqual({ value: undefined, executed: true });
    expect(await work.runOnce(term, 'k', () => 'again')).toEqual({ value: undefined, executed: false });
    expect(await paid()).toEqual([]);
  });

  test('is the answer to a delayed retry within one term, which no guard can tell from a write', async () => {
    const term = fakeTerm(1n);
    const set = (key: string, what: string) =>
      work.runOnce(term, key, async (tx) => {
        await tx.query('DELETE FROM paid');
        await tx.query('INSERT INTO paid VALUES ($1)', [what]);
      });
    await set('request/1', 'first');
    await set('request/2', 'second');
    await set('request/1', 'first');
    expect(await paid()).toEqual(['second']);
  });

  test('after a commit whose answer was lost, the key tells what became of it', async () => {
    const own = new pg.Pool({ ...server.config, max: 2 });
    own.on('error', () => undefined);
    const connect = own.connect.bind(own);
    let lose = true;
    // The server commits; the answer does not arrive.
    const losing = {
      connect: async () => {
        const client = await connect();
        const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
        client.query = (async (...args: unknown[]) => {
          const result = await query(...args);
          if (!String(args[0]).endsWith('COMMIT') || !lose) return result;
          lose = false;
          throw new Error('Connection terminated unexpectedly');
        }) as never;
        return client;
      },
    };
    const lossy = tasks({ guard: postgresGuard({ pool: losing }), resource: work.resource });
    const pay = () =>
      lossy.runOnce(fakeTerm(1n), 'k', (tx) => tx.query("INSERT INTO paid VALUES ('paid')").then(() => 'receipt'));
    await expect(pay()).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' });
    expect(await pay()).toEqual({ value: 'receipt', executed: false });
    expect(await paid()).toEqual(['paid']);
    await own.end();
  });

  test('hostile keys are kept apart; impossible ones are refused', async () => {
    const keys = ["'); DROP TABLE paid;--", '__proto__', '../..', 'é', 'e\u0301', '💣', 'k'.repeat(512)];
    for (const key of keys) expect((await work.runOnce(fakeTerm(1n), key, () => key)).executed).toBe(true);
    for (const key of keys) expect((await work.runOnce(fakeTerm(1n), key, () => '')).value).toBe(key);
    for (const key of ['', '\0', 'k'.repeat(513)]) {
      await expect(work.runOnce(fakeTerm(1n), key, () => '')).rejects.toMatchObject({ code: 'INVALID_RESOURCE' });
    }
  });
});

describe('runSteps', () => {
  test('a worker is killed in a step: its successor finds the task and goes on behind the last saved step', async () => {
    const settlement = newTasks('settlement');
    const child = startChild('./dying-worker.ts', [JSON.stringify(server.config)]);
    expect(await child.line()).toBe('in two');
    child.kill();
    const term = fakeTerm(2n, { leaderId: 'second' });
    const [found, ...more] = await settlement.unfinished(term);
    expect(more).toEqual([]);
    expect(found).toMatchObject({
      key: 'day/1',
      attempts: 1,
      token: 1n,
      holder: 'first',
      progress: { cursor: 17 },
      steps: ['one'],
    });
    const ran: string[] = [];
    const result = await settlement.runSteps(term, 'day/1', async (task) => {
      expect(task).toMatchObject({ attempt: 2, progress: { cursor: 17 }, done: ['one'] });
      const one = await task.step('one', () => void ran.push('one') as unknown as { rows: number });
      await task.step('two', ({ idempotencyKey }) => void ran.push(idempotencyKey));
      await task.transact('three', (tx) => tx.query("INSERT INTO paid VALUES ('three')").then(() => null));
      return one.rows;
    });
    expect(result).toEqual({ value: 3, executed: true });
    expect(ran).toEqual(['settlement/day%2F1/two']);
    expect(await settlement.unfinished(term)).toEqual([]);
    expect(await settlement.runSteps(fakeTerm(3n), 'day/1', () => 0)).toEqual({ value: 3, executed: false });
    expect(duplicates).toEqual(['executed day/1', 'suppressed day/1']);
  });

  test('a worker that was paused in a step can neither save it nor finish after its successor has looked', async () => {
    const gate = pause();
    const older = work
      .runSteps(fakeTerm(1n), 'k', async (task) => {
        await task.step('one', gate.pause);
        await task.transact('two', (tx) => tx.query("INSERT INTO paid VALUES ('older')"));
      })
      .catch((error: unknown) => error);
    await gate.reached;
    const term = fakeTerm(2n);
    expect(await work.unfinished(term)).toMatchObject([{ key: 'k', steps: [] }]);
    gate.resume();
    expect(await older).toBeInstanceOf(StaleTokenError);
    expect(await work.unfinished(term)).toMatchObject([{ key: 'k', steps: [] }]);
    expect(await paid()).toEqual([]);
  });

  test('transact takes effect with its record or not at all', async () => {
    const term = fakeTerm(1n);
    const attempt = (fail: boolean) =>
      work.runSteps(term, 'k', async (task) => {
        await task.transact('pay', async (tx) => {
          await tx.query("INSERT INTO paid VALUES ('pay')");
          if (fail) throw new Error('no');
        });
        return task.done;
      });
    await expect(attempt(true)).rejects.toThrow('no');
    expect(await paid()).toEqual([]);
    await attempt(false);
    await attempt(false);
    expect(await paid()).toEqual(['pay']);
  });

  test('a second call in this process joins the first; one name for two steps is an error', async () => {
    const term = fakeTerm(1n);
    const gate = pause();
    const first = work.runSteps(term, 'k', async (task) => {
      await task.step('one', gate.pause);
      return 'done';
    });
    await gate.reached;
    const second = work.runSteps(term, 'k', () => 'another');
    gate.resume();
    expect(await first).toEqual({ value: 'done', executed: true });
    expect(await second).toEqual({ value: 'done', executed: false });
    const twice = work.runSteps(term, 'twice', async (task) => {
      await task.step('one', () => 1);
      await task.step('one', () => 2);
    });
    await expect(twice).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'step' });
  });
});

describe('what must not mix', () => {
  test('idempotency keys of other resources, tasks and steps are others', async () => {
    const seen: string[] = [];
    const ask = (at: Tasks<pg.PoolClient>, key: string, step: string) =>
      at.runSteps(fakeTerm(1n), key, (task) =>
        task.step(step, ({ idempotencyKey }) => {
          seen.push(idempotencyKey);
        }),
      );
    await ask(work, 'batch/17', 'pay');
    await ask(work, 'batch', '17/pay');
    await ask(newTasks(`${work.resource}/batch`), '17', 'pay');
    await ask(newTasks(`${work.resource}-other`), 'batch/17', 'pay');
    expect(new Set(seen).size).toBe(4);
  });

  test('runOnce does not run what is worked on in steps, and replaces no result', async () => {
    const term = fakeTerm(1n);
    const gate = pause();
    const steps = work.runSteps(term, 'k', async (task) => {
      await task.step('one', gate.pause);
      return 'in steps';
    });
    await gate.reached;
    const once = work.runOnce(term, 'k', (tx) => tx.query("INSERT INTO paid VALUES ('twice')").then(() => 'at once'));
    await expect(once).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'key' });
    gate.resume();
    expect(await steps).toEqual({ value: 'in steps', executed: true });
    expect(await work.runOnce(term, 'k', () => 'at once')).toEqual({ value: 'in steps', executed: false });
    expect(await paid()).toEqual([]);
  });

  test('a task whose record was deleted while it ran is not told to be done', async () => {
    const steps = work.runSteps(fakeTerm(1n), 'k', async () => {
      await pool.query('DELETE FROM tenure.task WHERE resource = $1', [work.resource]);
    });
    await expect(steps).rejects.toThrow(/deleted while it ran/);
  });

  test('two attempts of one term, in two processes: a step is saved once, and both get its result', async () => {
    const term = fakeTerm(1n);
    const gate = pause();
    const attempt = (name: string, before: () => Promise<void>) =>
      newTasks(work.resource).runSteps(term, 'k', async (task) => {
        const outside = await task.step('outside', async () => {
          await before();
          return name;
        });
        const inside = await task.transact('inside', async (tx) => {
          await tx.query('INSERT INTO paid VALUES ($1)', [name]);
          return name;
        });
        return [outside, inside];
      });
    const slow = attempt('slow', gate.pause);
    await gate.reached;
    expect(await attempt('fast', async () => undefined)).toEqual({ value: ['fast', 'fast'], executed: true });
    gate.resume();
    expect(await slow).toEqual({ value: ['fast', 'fast'], executed: false });
    expect(await paid()).toEqual(['fast']);
  });

  test('a handle saves nothing after the end of its task', async () => {
    let kept: TaskSteps<pg.PoolClient> | undefined;
    const gate = pause();
    let late: Promise<unknown> = Promise.resolve();
    await work.runSteps(fakeTerm(1n), 'k', async (task) => {
      kept = task;
      late = task.step('late', gate.pause);
      late.catch(() => undefined);
      await gate.reached;
    });
    gate.resume();
    const released = { code: 'FENCE_RELEASED' };
    await expect(late).rejects.toMatchObject(released);
    await expect(kept?.step('one', () => 1)).rejects.toMatchObject(released);
    await expect(kept?.transact('two', () => 1)).rejects.toMatchObject(released);
    await expect(kept?.save(1)).rejects.toMatchObject(released);
  });
});

test('prune() forgets what is done and old, and leaves what is unfinished', async () => {
  const term = fakeTerm(1n);
  await work.runOnce(term, 'done', () => 1);
  await work.runSteps(term, 'steps', (task) => task.step('one', () => 1));
  await work.runSteps(term, 'failing', () => Promise.reject(new Error('no'))).catch(() => undefined);
  expect(await work.prune(term, { olderThanMs: 60_000 })).toBe(0);
  expect(await work.prune(term, { olderThanMs: 0 })).toBe(2);
  expect(await work.unfinished(term)).toMatchObject([{ key: 'failing' }]);
  expect((await work.runOnce(term, 'done', () => 2)).executed).toBe(true);
});
