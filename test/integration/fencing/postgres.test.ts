import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { NotLeadingError, StaleTokenError } from '../../../src/errors.js';
import {
  CommitUnknownError,
  FenceBusyError,
  FenceReleasedError,
  FenceTimeoutError,
  FencingNotInstalledError,
  TransactionAbortedError,
  TransactionEndedError,
} from '../../../src/fencing/index.js';
import { fenceSchema, postgresGuard } from '../../../src/fencing/postgres.js';
import { fakeTerm } from '../../conformance/terms.js';
import { startChild } from './child.js';
import { insert, newPool, notes, pool, resource, server, useLedger } from './ledger.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

useLedger();

describe('a leader frozen inside its transaction', () => {
  for (const after of ['commit', 'query'] as const) {
    test(`lets its successor through within its lease, and is refused when it wakes (${after})`, async () => {
      const leaseMs = 1_500;
      const child = startChild('./frozen-leader.ts', [JSON.stringify(server.config), String(leaseMs), after]);
      try {
        expect(await child.line()).toBe('inside');
        const inside = performance.now();
        await child.frozen();
        const guard = postgresGuard({ pool });
        await guard.transaction(fakeTerm(2n, { leaderId: 'successor' }), 'ledger', (tx) =>
          insert(tx, 'from the successor'),
        );
        const waited = performance.now() - inside;
        // It did wait for the frozen one, which had its lease still; and not longer than that, but for a busy machine.
        expect(waited).toBeGreaterThan(leaseMs / 2);
        expect(waited).toBeLessThan(leaseMs + 700);
        child.thaw();
        expect(JSON.parse(await child.line())).toEqual({ first: 'FENCE_TIMEOUT', second: 'STALE_TOKEN' });
        expect(await notes()).toEqual(['from the successor']);
      } finally {
        child.kill();
        await pool.query("DELETE FROM tenure.fence WHERE resource = 'ledger'");
      }
    });
  }
});

describe('the commit', () => {
  test('is asserted: a lease that ended inside the transaction rolls it back', async () => {
    let asked = 0;
    let inside = false;
    const term = fakeTerm(1n, {
      assert: () => {
        asked += 1;
        if (inside) throw new NotLeadingError('suspect');
      },
    });
    const work = postgresGuard({ pool }).transaction(term, resource, async (tx) => {
      inside = true;
      await insert(tx, 'too late');
    });
    await expect(work).rejects.toBeInstanceOf(NotLeadingError);
    expect(asked).toBeGreaterThanOrEqual(2);
    expect(await notes()).toEqual([]);
  });

  test('of a transaction whose failed statement was swallowed is an error, not a silent rollback', async () => {
    const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
      await insert(tx, 'lost');
      await tx.query('SELECT 1 / 0').catch(() => undefined);
    });
    await expect(work).rejects.toBeInstanceOf(TransactionAbortedError);
    expect(await notes()).toEqual([]);
  });

  test('is the guard’s own: work that commits by itself is told', async () => {
    const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
      await tx.query('COMMIT');
    });
    await expect(work).rejects.toBeInstanceOf(TransactionEndedError);
  });

  test('that lost its answer is unknown, and says so', async () => {
    await pool.query(`CREATE OR REPLACE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(5); RETURN NULL; END $$;
      CREATE TABLE IF NOT EXISTS slow (id int);
      DROP TRIGGER IF EXISTS linger ON slow;
      CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()`);
    const own = newPool({ max: 1 });
    const guard = postgresGuard({ pool: own });
    const work = guard
      .transaction(fakeTerm(1n), resource, async (tx) => {
        const { rows } = await tx.query('SELECT pg_backend_pid() AS pid');
        await tx.query('INSERT INTO slow VALUES (1)');
        setTimeout(() => void pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]), 100);
      })
      .catch((error: unknown) => error);
    expect(await work).toBeInstanceOf(CommitUnknownError);
    // The pool has no use for that connection, and is none the worse.
    await guard.transaction(fakeTerm(1n), resource, (tx) => insert(tx, 'next'));
    expect(await notes()).toEqual(['next']);
    await own.end();
  });

  test('runs before a forgotten await: what comes after it is refused', async () => {
    let late: Promise<unknown> = Promise.resolve();
    await postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
      late = sleep(50).then(() => insert(tx, 'outside of the fence'));
      late.catch(() => undefined);
    });
    await expect(late).rejects.toBeInstanceOf(FenceReleasedError);
    expect(await notes()).toEqual([]);
  });
});

describe('retries', () => {
  test('serialization failures are tried again until they pass', async () => {
    await pool.query("INSERT INTO ledger VALUES (0, '0')");
    const guard = postgresGuard({ pool }, { isolation: 'serializable', maxAttempts: 20 });
    let runs = 0;
    await Promise.all(
      Array.from({ length: 6 }, () =>
        guard.transaction(fakeTerm(1n), resource, async (tx) => {
          runs += 1;
          const { rows } = await tx.query('SELECT note FROM ledger WHERE id = 0');
          await sleep(5);
          await tx.query('UPDATE ledger SET note = $1 WHERE id = 0', [String(Number(rows[0].note) + 1)]);
        }),
      ),
    );
    expect(await notes()).toEqual(['6']);
    expect(runs).toBeGreaterThan(6);
  });

  test('a deadlock is tried again', async () => {
    await pool.query("INSERT INTO ledger VALUES (1, 'a'), (2, 'b')");
    const guard = postgresGuard({ pool });
    // The first transaction of a term has the resource to itself; these two are to meet.
    await guard.check(fakeTerm(1n), resource);
    let runs = 0;
    const both = (first: number, second: number) =>
      guard.transaction(fakeTerm(1n), resource, async (tx) => {
        runs += 1;
        await tx.query("SET LOCAL deadlock_timeout = '50ms'");
        await tx.query('UPDATE ledger SET note = note WHERE id = $1', [first]);
        await sleep(runs <= 2 ? 100 : 0);
        await tx.query('UPDATE ledger SET note = note WHERE id = $1', [second]);
      });
    await Promise.all([both(1, 2), both(2, 1)]);
    expect(runs).toBeGreaterThanOrEqual(3);
  });

  test('are bounded, also where a query builder has wrapped the error', async () => {
    let runs = 0;
    const wrapped = Object.assign(new Error('Failed query'), {
      cause: Object.assign(new Error('conflict'), { code: '40001' }),
    });
    const work = postgresGuard({ pool }, { maxAttempts: 3 }).transaction(fakeTerm(1n), resource, () => {
      runs += 1;
      throw wrapped;
    });
    await expect(work).rejects.toBe(wrapped);
    expect(runs).toBe(3);
  });
});

describe('limits', () => {
  test('a transaction that outlives its lease is ended by the server; a pool of one connection goes on', async () => {
    const own = newPool({ max: 1 });
    const guard = postgresGuard({ pool: own });
    const work = guard.transaction(fakeTerm(1n, { forMs: 200 }), resource, async (tx) => {
      await insert(tx, 'too long');
      await sleep(500);
    });
    await expect(work).rejects.toBeInstanceOf(FenceTimeoutError);
    // Also one that never pauses, but takes its time.
    const busy = guard.transaction(fakeTerm(1n, { forMs: 300 }), resource, async (tx) => {
      for (let i = 0; i < 20; i += 1) await tx.query('SELECT pg_sleep(0.05)');
    });
    await expect(busy).rejects.toBeInstanceOf(FenceTimeoutError);
    await guard.transaction(fakeTerm(1n), resource, (tx) => insert(tx, 'fine'));
    expect(await notes()).toEqual(['fine']);
    const { rows } =
      await own.query(`SELECT current_setting('transaction_timeout') AS a, current_setting('idle_in_transaction_session_timeout') AS b,
      current_setting('lock_timeout') AS c, coalesce(current_setting('tenure.token', true), '') AS d`);
    expect(rows[0]).toEqual({ a: '0', b: '0', c: '0', d: '' });
    await own.end();
  });

  test('extend() lets a transaction go on for what remains of a renewed lease', async () => {
    const start = performance.now();
    // Renewed all the time: there are always 900 ms left.
    const term = { ...fakeTerm(1n), remainingMs: () => 900 };
    await postgresGuard({ pool }).transaction(term, resource, async (tx) => {
      for (let i = 0; i < 6; i += 1) {
        await sleep(300);
        await tx.extend();
      }
      await insert(tx, 'long');
    });
    expect(performance.now() - start).toBeGreaterThan(1_800);
    expect(await notes()).toEqual(['long']);
  });

  test('a shorter limit of the user’s own stays', async () => {
    const own = newPool({
      max: 1,
      options: '-c transaction_timeout=300 -c idle_in_transaction_session_timeout=250 -c lock_timeout=123',
    });
    await postgresGuard({ pool: own }).transaction(fakeTerm(1n), resource, async (tx) => {
      const { rows } = await tx.query(
        "SELECT current_setting('transaction_timeout') AS a, current_setting('idle_in_transaction_session_timeout') AS b, current_setting('lock_timeout') AS c",
      );
      expect(rows[0]).toEqual({ a: '300ms', b: '250ms', c: '123ms' });
      await tx.extend();
      const again = await tx.query("SELECT current_setting('transaction_timeout') AS a");
      expect(again.rows[0]).toEqual({ a: '300ms' });
    });
    await own.end();
  });

  test('waiting for an older transaction ends with the lease, with the connection whole', async () => {
    const guard = postgresGuard({ pool });
    let end: () => void = () => undefined;
    const older = guard.transaction(fakeTerm(1n), resource, () => new Promise<void>((resolve) => (end = resolve)));
    await sleep(50);
    await expect(guard.check(fakeTerm(2n, { forMs: 200 }), resource)).rejects.toBeInstanceOf(FenceBusyError);
    end();
    await older;
    await guard.check(fakeTerm(2n), resource);
  });

  test('waiting for a connection ends with the lease', async () => {
    const own = newPool({ max: 1 });
    const guard = postgresGuard({ pool: own });
    const hog = await own.connect();
    const until = performance.now() + 200;
    const term = fakeTerm(1n, {
      forMs: 200,
      assert: () => {
        if (performance.now() > until) throw new NotLeadingError('over');
      },
    });
    await expect(guard.check(term, resource)).rejects.toBeInstanceOf(NotLeadingError);
    hog.release();
    await guard.check(fakeTerm(1n), resource);
    expect(own.waitingCount).toBe(0);
    await own.end();
  });

  test('a stream of older transactions, overlapping, does not starve a newer term', async () => {
    const guard = postgresGuard({ pool });
    await guard.check(fakeTerm(1n), resource);
    // Each until it is refused, which is what ends it.
    const stream = Array.from({ length: 4 }, async (_, i) => {
      await sleep(i * 10);
      for (let turn = 0; turn < 500; turn += 1) await guard.transaction(fakeTerm(1n), resource, () => sleep(40));
    });
    const ends = Promise.allSettled(stream);
    await sleep(100);
    const start = performance.now();
    await guard.check(fakeTerm(2n), resource);
    // A starved one would come through when the stream has run dry: after twenty seconds.
    expect(performance.now() - start).toBeLessThan(5_000);
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'STALE_TOKEN' } });
  });
});

describe('other languages and other setups', () => {
  test('the SQL function refuses, accepts and locks; a trigger protects a table', async () => {
    await pool.query(`CREATE TABLE guarded (id int);
      CREATE TRIGGER fenced BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON guarded FOR EACH STATEMENT EXECUTE FUNCTION tenure.require_fence('${resource}')`);
    const client = await pool.connect();
    const script = (text: string) => client.query(`BEGIN; ${text}; COMMIT`).finally(() => client.query('ROLLBACK'));
    await script(`SELECT tenure.fence('${resource}', 7, 'psql'); INSERT INTO guarded VALUES (1)`);
    await script("SET LOCAL tenure.token = '8'; INSERT INTO guarded VALUES (2)");
    await expect(script('INSERT INTO guarded VALUES (3)')).rejects.toMatchObject({ code: 'TN428' });
    await expect(script("SET LOCAL tenure.token = '7'; INSERT INTO guarded VALUES (3)")).rejects.toMatchObject({
      code: 'TN409',
    });
    await expect(script("SET LOCAL tenure.token = '1e3'; TRUNCATE guarded")).rejects.toMatchObject({ code: 'TN400' });
    await expect(script("SET LOCAL tenure.token = '9223372036854775808'; DELETE FROM guarded")).rejects.toMatchObject({
      code: 'TN400',
    });
    await expect(script(`SELECT tenure.fence('${resource}', 0)`)).rejects.toMatchObject({ code: 'TN400' });
    await expect(script(`SELECT tenure.fence('${resource}', NULL)`)).rejects.toMatchObject({ code: 'TN428' });
    expect((await client.query('SELECT id FROM guarded ORDER BY id')).rows).toEqual([{ id: 1 }, { id: 2 }]);
    client.release();
    // A token that is held for something else is none; one that is presented too meets the refusal as the guard's own error.
    const guard = postgresGuard({ pool });
    const write = (before: string) =>
      guard.transaction(fakeTerm(3n), `${resource}-other`, (tx) =>
        tx.query(`${before}; INSERT INTO guarded VALUES (4)`),
      );
    await expect(write('SELECT 1')).rejects.toMatchObject({ code: 'TN428' });
    const error = await write("SET LOCAL tenure.token = '3'").catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StaleTokenError);
    expect(error).toMatchObject({ resource, token: 3n, highest: 8n });
    await guard.transaction(fakeTerm(9n), resource, (tx) => tx.query('INSERT INTO guarded VALUES (5)'));
  });

  test('migrate() is idempotent, safe side by side, and needs no rights where all is there', async () => {
    const guards = Array.from({ length: 6 }, () => postgresGuard({ pool }, { schema: 'other' }));
    await expect(guards[0]?.check(fakeTerm(1n), resource)).rejects.toBeInstanceOf(FencingNotInstalledError);
    await Promise.all(guards.map((guard) => guard.migrate()));
    await guards[0]?.check(fakeTerm(1n), resource);
    await pool.query(fenceSchema('other'));
    expect(await guards[0]?.highest(resource)).toMatchObject({ token: 1n });
    await pool.query(
      `CREATE ROLE worker LOGIN PASSWORD 'w'; GRANT USAGE ON SCHEMA other TO worker; GRANT SELECT, INSERT, UPDATE ON other.fence TO worker`,
    );
    const worker = newPool({ user: 'worker', password: 'w' });
    const guard = postgresGuard({ pool: worker }, { schema: 'other' });
    await guard.migrate();
    await guard.check(fakeTerm(2n), resource);
    await worker.end();
    expect(() => postgresGuard({ pool }, { schema: 'a"; DROP SCHEMA public' })).toThrow(/schema/);
  });

  test('tokens stay exact for a client that reads bigint as a number', async () => {
    const own = new pg.Client({ ...server.config, types: { getTypeParser: () => Number as never } });
    await own.connect();
    const guard = postgresGuard({ client: own });
    await guard.check(fakeTerm(2n ** 53n + 1n), resource).catch(() => undefined);
    await own.end();
    expect(await postgresGuard({ pool }).highest(resource)).toMatchObject({ token: 2n ** 53n + 1n });
  });

  test('one client: transactions take turns, and one inside another is an error instead of a wait without end', async () => {
    const client = new pg.Client(server.config);
    await client.connect();
    const guard = postgresGuard({ client });
    const order: string[] = [];
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        guard.transaction(fakeTerm(1n), resource, async (tx) => {
          order.push(`${name}(`);
          await tx.query('SELECT pg_sleep(0.01)');
          order.push(`${name})`);
        }),
      ),
    );
    expect(order).toEqual(['a(', 'a)', 'b(', 'b)', 'c(', 'c)']);
    await expect(guard.transaction(fakeTerm(1n), resource, () => guard.check(fakeTerm(1n), 'x'))).rejects.toMatchObject(
      { option: 'client' },
    );
    await guard.check(fakeTerm(1n), resource);
    await client.end();
  });

  test('a fence that was deleted is raised again, by several at once without a deadlock', async () => {
    const guard = postgresGuard({ pool });
    await guard.check(fakeTerm(5n), resource);
    await pool.query('DELETE FROM tenure.fence WHERE resource = $1', [resource]);
    const start = performance.now();
    await Promise.all(Array.from({ length: 4 }, () => guard.transaction(fakeTerm(5n), resource, () => sleep(20))));
    // Less than the second after which PostgreSQL looks for deadlocks.
    expect(performance.now() - start).toBeLessThan(900);
    await expect(guard.check(fakeTerm(4n), resource)).rejects.toBeInstanceOf(StaleTokenError);
  });

  test('a raised token is on the disk even in a session that commits asynchronously', async () => {
    const own = newPool({ max: 1, options: '-c synchronous_commit=off' });
    const guard = postgresGuard({ pool: own });
    const setting = async (token: bigint) =>
      guard.transaction(
        fakeTerm(token),
        resource,
        async (tx) => (await tx.query('SHOW synchronous_commit')).rows[0].synchronous_commit,
      );
    expect(await setting(1n)).toBe('on');
    expect(await setting(1n)).toBe('off');
    expect(await setting(2n)).toBe('on');
    await own.end();
  });
});

test('a delayed retry inside one term passes the guard: it orders terms, not writes', async () => {
  const guard = postgresGuard({ pool });
  const term = fakeTerm(1n);
  const set = (note: string) =>
    guard.transaction(term, resource, async (tx) => {
      await tx.query('DELETE FROM ledger');
      await insert(tx, note);
    });
  await set('first');
  await set('second');
  // The retry of the first write, its answer lost: same term, same token, and nothing wrong with it as far as the guard can see.
  await set('first');
  expect(await notes()).toEqual(['first']);
});
