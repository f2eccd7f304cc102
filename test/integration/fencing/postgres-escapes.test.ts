import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { postgresGuard, type Transaction } from '../../../src/fencing/postgres.js';
import { fakeTerm } from '../../conformance/terms.js';
import { insert, newPool, notes, pool, resource, server, useLedger } from './ledger.js';

/** Ways in which work could write outside of its fence, or hold it for longer than it may. */

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

useLedger();

describe('a statement that follows the end of the work', () => {
  for (const end of ['commit', 'rollback'] as const) {
    test(`is refused while the ${end} is under way`, async () => {
      let branch: Promise<unknown> = Promise.resolve();
      const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
        branch = tx.query('SELECT pg_sleep(0.1)').then(() => insert(tx, 'outside of the fence'));
        branch.catch(() => undefined);
        if (end === 'rollback') throw new Error('another branch failed');
      });
      await work.catch(() => undefined);
      await expect(branch).rejects.toMatchObject({ code: 'FENCE_RELEASED' });
      await sleep(50);
      expect(await notes()).toEqual([]);
    });
  }
});

describe('work that ends its transaction by itself', () => {
  for (const [statements, kept] of [
    ['COMMIT; BEGIN', ['before']],
    ['COMMIT AND CHAIN', ['before']],
    ['ROLLBACK; BEGIN', []],
    ['ROLLBACK AND CHAIN', []],
  ] as const) {
    test(`writes nothing behind the fence with ${statements}, and is told`, async () => {
      const guard = postgresGuard({ pool });
      const work = guard.transaction(fakeTerm(1n), resource, async (tx) => {
        await insert(tx, 'before');
        await tx.query(statements);
        await guard.check(fakeTerm(2n), resource);
        await insert(tx, 'after a newer term');
      });
      await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED', resource });
      expect(await notes()).toEqual(kept);
    });
  }

  test('gets no other statement through', async () => {
    const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
      await tx.query('COMMIT');
      await insert(tx, 'a transaction of its own');
    });
    await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
    expect(await notes()).toEqual([]);
  });

  test('may roll back to a savepoint of its own', async () => {
    await postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
      await tx.query('SAVEPOINT a');
      await insert(tx, 'undone');
      await tx.query('ROLLBACK TO SAVEPOINT a');
      await insert(tx, 'done');
    });
    expect(await notes()).toEqual(['done']);
  });
});

describe('the limits of a transaction', () => {
  test('are extended also after a trigger has asked for the fence again', async () => {
    await pool.query(`CREATE TABLE fenced (id int); CREATE TRIGGER fenced BEFORE INSERT ON fenced
      FOR EACH STATEMENT EXECUTE FUNCTION tenure.require_fence('${resource}')`);
    const guard = postgresGuard({ pool });
    await guard.check(fakeTerm(1n), resource);
    // Renewed all the time: there are always 300 ms left.
    await guard.transaction({ ...fakeTerm(1n), remainingMs: () => 300 }, resource, async (tx) => {
      await tx.query('INSERT INTO fenced VALUES (1)');
      for (let i = 0; i < 4; i += 1) {
        await sleep(150);
        await tx.extend();
      }
    });
  });

  test('never exceed the user’s own, which were set before', async () => {
    const own = newPool({ max: 1, options: '-c transaction_timeout=9s -c idle_in_transaction_session_timeout=4s' });
    let left = 1_000;
    const term = { ...fakeTerm(1n), remainingMs: () => left };
    const guard = postgresGuard({ pool: own });
    const read = async (tx: Transaction<pg.PoolClient>) => {
      const text = `SELECT extract(epoch FROM current_setting('transaction_timeout')::interval)::float8 AS whole,
        extract(epoch FROM current_setting('idle_in_transaction_session_timeout')::interval)::float8 AS idle`;
      return (await tx.query(text)).rows[0];
    };
    for (const time of ['first', 'again']) {
      left = 1_000;
      await guard.transaction(term, resource, async (tx) => {
        // That of the whole bounds the pauses, too.
        expect((await read(tx)).whole, time).toBeLessThanOrEqual(1);
        expect((await read(tx)).idle, time).toBe(4);
        left = 60_000;
        await tx.extend();
        const { whole, idle } = await read(tx);
        expect(idle, time).toBe(4);
        expect(whole, time).toBeGreaterThan(7);
        expect(whole, time).toBeLessThanOrEqual(9);
      });
    }
    await own.end();
  });
});

test('a fence without a limit does not make one that follows forget the user’s own', async () => {
  const client = new pg.Client({ ...server.config, options: '-c transaction_timeout=9s' });
  await client.connect();
  const limit = async (): Promise<number> => {
    const text = "SELECT extract(epoch FROM current_setting('transaction_timeout')::interval)::float8 AS whole";
    return (await client.query(text)).rows[0].whole;
  };
  await client.query(`BEGIN; SELECT tenure.fence('${resource}', 1)`);
  expect(await limit()).toBe(9);
  await client.query(`SELECT tenure.fence('${resource}-other', 1, NULL, 60000)`);
  expect(await limit()).toBeLessThanOrEqual(9);
  expect(await limit()).toBeGreaterThan(0);
  await client.query(`SELECT tenure.fence('${resource}', 1, NULL, 2000)`);
  expect(await limit()).toBeLessThanOrEqual(2);
  await client.end();
});

test('a trigger takes no token that is held for another resource', async () => {
  await pool.query(`CREATE TABLE other (id int); CREATE TRIGGER fenced BEFORE INSERT ON other
    FOR EACH STATEMENT EXECUTE FUNCTION tenure.require_fence('${resource}-other')`);
  const guard = postgresGuard({ pool });
  const write = (sql: string) => guard.transaction(fakeTerm(1n), resource, (tx) => tx.query(sql));
  await guard.check(fakeTerm(1n), resource);
  await expect(write('INSERT INTO other VALUES (1)')).rejects.toMatchObject({ code: 'TN428' });
  expect(await guard.highest(`${resource}-other`)).toBeNull();
  await write(`SELECT tenure.fence('${resource}-other', 7); INSERT INTO other VALUES (1)`);
  expect(await guard.highest(`${resource}-other`)).toMatchObject({ token: 7n });
});
