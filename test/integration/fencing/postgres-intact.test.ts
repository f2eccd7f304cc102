import { once } from 'node:events';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { TransactionAbortedError } from '../../../src/fencing/index.js';
import { postgresGuard, type Transaction } from '../../../src/fencing/postgres.js';
import { fakeTerm } from '../../conformance/terms.js';
import { newPool, notes, pool, resource, server, useLedger } from './ledger.js';

/**
 * A commit isn't looked at by the server where the tags of the transaction's statements say that it is certainly still the same
 * transaction. Here are the ways to end one, each by every way to send it.
 */

type Tx = Transaction<pg.PoolClient>;

useLedger({ settings: { max_prepared_transactions: '5' } });
beforeAll(() => pool.query('CREATE PROCEDURE ending() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$'));
const note = (text: string) => `INSERT INTO ledger (note) VALUES ('${text}')`;

/** A statement of the protocol, which EXECUTE knows by its name. PREPARE would refuse it. */
async function prepare(own: pg.Pool): Promise<void> {
  const client = await own.connect();
  await client.query('BEGIN');
  await client.query({ name: 'ended_and_chained', text: 'COMMIT AND CHAIN' });
  await client.query('ROLLBACK');
  client.release();
}

/** A pool whose clients tell what they send. */
function overheard(): { pool: pg.Pool; sent: string[] } {
  const own = newPool({ max: 1 });
  const sent: string[] = [];
  own.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: unknown[]) => {
      if (typeof args[0] === 'string') sent.push(args[0]);
      return query(...args);
    }) as typeof client.query;
  });
  return { pool: own, sent };
}

const endings = [
  'COMMIT; BEGIN',
  'END; BEGIN',
  'COMMIT AND CHAIN',
  'END AND CHAIN',
  'ROLLBACK; BEGIN',
  'ABORT; START TRANSACTION',
  'ROLLBACK AND CHAIN',
  '; COMMIT; BEGIN;',
  'SELECT 1; COMMIT; BEGIN; SELECT 2',
  'SAVEPOINT a; COMMIT AND CHAIN; SELECT 1',
  'EXECUTE ended_and_chained',
  'SELECT 1; EXECUTE ended_and_chained; SELECT 2',
];

const senders = {
  string: (tx: Tx, text: string) => tx.query(text),
  object: (tx: Tx, text: string) => tx.query({ text, rowMode: 'array' }),
  callback: (tx: Tx, text: string) =>
    new Promise<void>((resolve, reject) => {
      tx.query(text, (error: Error | null) => (error ? reject(error) : resolve()));
    }),
  submittable: async (tx: Tx, text: string) => {
    await once(tx.query(new pg.Query(text)) as unknown as NodeJS.EventEmitter, 'end');
  },
};

describe('a transaction that its own work has ended, and followed by another,', () => {
  for (const text of endings) {
    for (const [how, send] of Object.entries(senders)) {
      test(`commits nothing behind the fence: ${text}, as a ${how}`, async () => {
        const own = newPool({ max: 1 });
        await prepare(own);
        const work = postgresGuard({ pool: own }).transaction(fakeTerm(1n), resource, async (tx) => {
          await send(tx as Tx, text);
          await postgresGuard({ pool }).check(fakeTerm(2n), resource);
          await tx.query(note('after a newer term'));
        });
        await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
        expect(await notes()).toEqual([]);
        await own.end();
      });
    }
  }

  test('by PREPARE TRANSACTION', async () => {
    const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
      await tx.query("PREPARE TRANSACTION 'half'; BEGIN");
      await tx.query(note('behind'));
    });
    await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
    // The prepared half holds the fence, until somebody ends it.
    await expect(postgresGuard({ pool }).check(fakeTerm(2n, { forMs: 200 }), resource)).rejects.toMatchObject({
      code: 'FENCE_BUSY',
    });
    await pool.query("ROLLBACK PREPARED 'half'");
    expect(await notes()).toEqual([]);
  });

  test('by one statement after another', async () => {
    const own = newPool({ max: 1 });
    const work = postgresGuard({ pool: own }).transaction(fakeTerm(1n), resource, async (tx) => {
      // Both sent at once: no answer has said yet that the transaction is over.
      await Promise.all([tx.query('COMMIT'), tx.query('BEGIN')]);
      await tx.query(note('behind'));
    });
    await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
    expect(await notes()).toEqual([]);
    await own.end();
  });

  test('by a prepared statement', async () => {
    const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
      await Promise.all([tx.query({ name: 'c', text: 'COMMIT' }), tx.query({ name: 'b', text: 'BEGIN' })]);
      await tx.query(note('behind'));
    });
    await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
    expect(await notes()).toEqual([]);
  });

  for (const [how, send] of Object.entries(senders)) {
    test(`without waiting for it, as a ${how}`, async () => {
      const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
        await tx.query('SELECT 1');
        send(tx as Tx, `COMMIT; BEGIN; ${note('behind')}`).catch(() => undefined);
      });
      await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
      expect(await notes()).toEqual([]);
    });
  }

  test('with an error after the end', async () => {
    const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
      await tx.query('COMMIT; BEGIN; SAVEPOINT a; SELECT 1 / 0').catch(() => undefined);
      await tx.query('ROLLBACK TO a');
      await tx.query(note('behind'));
    });
    await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
    expect(await notes()).toEqual([]);
  });

  test('on the client itself, that its owner has too', async () => {
    const client = new pg.Client(server.config);
    await client.connect();
    const work = postgresGuard({ client }).transaction(fakeTerm(1n), resource, async (tx) => {
      await client.query('COMMIT; BEGIN');
      await tx.query(note('behind'));
    });
    await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' });
    await client.end();
    expect(await notes()).toEqual([]);
  });

  for (const text of ['CALL ending()', 'DO $$ BEGIN COMMIT; END $$', "DO $$ BEGIN EXECUTE 'ROLLBACK'; END $$"]) {
    test(`not by ${text}, which the server refuses`, async () => {
      const work = postgresGuard({ pool }).transaction(fakeTerm(1n), resource, async (tx) => {
        await tx.query(note('before'));
        await tx.query(text).catch(() => undefined);
      });
      await expect(work).rejects.toBeInstanceOf(TransactionAbortedError);
      expect(await notes()).toEqual([]);
    });
  }
});

describe('a commit is looked at by the server', () => {
  const last = async (work: (tx: Tx) => Promise<unknown>): Promise<string | undefined> => {
    const { pool: own, sent } = overheard();
    await postgresGuard({ pool: own }).transaction(fakeTerm(1n), resource, work);
    await own.end();
    return sent.at(-1);
  };

  test('not after statements that can’t end a transaction', async () => {
    const plain = await last(async (tx) => {
      await tx.query(note('a'));
      await tx.query('UPDATE ledger SET note = $1', ['b']);
      await tx.query({ name: 'read', text: 'SELECT note FROM ledger WHERE note = $1', values: ['b'] });
      await tx.query(`${note('c')}; DELETE FROM ledger WHERE note = 'c'`);
      await tx.extend();
    });
    expect(plain).toBe('COMMIT');
    expect(await notes()).toEqual(['b']);
  });

  const { callback, submittable } = senders;
  const doubtful: Record<string, (tx: Tx) => Promise<unknown>> = {
    'a savepoint': (tx) => tx.query('SAVEPOINT a; SELECT 1; ROLLBACK TO a'),
    'nothing at all': (tx) => tx.query(''),
    'a setting': (tx) => tx.query("SET LOCAL work_mem = '1MB'"),
    'a callback': (tx) => callback(tx, 'SELECT 1'),
    'a submittable': (tx) => submittable(tx, 'SELECT 1'),
  };
  for (const [what, work] of Object.entries(doubtful)) {
    test(`after ${what}`, async () => {
      expect(await last(work)).toContain('still_held');
    });
  }

  test('where the client doesn’t say whether it is in a transaction', async () => {
    const { pool: own, sent } = overheard();
    own.on('connect', (client) => Object.assign(client, { getTransactionStatus: undefined }));
    await postgresGuard({ pool: own }).transaction(fakeTerm(1n), resource, (tx) => tx.query(note('a')));
    await own.end();
    expect(sent.at(-1)).toContain('still_held');
    expect(await notes()).toEqual(['a']);
  });
});
