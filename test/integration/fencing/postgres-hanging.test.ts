import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../deploy/local/index.js';
import { NotLeadingError } from '../../../src/errors.js';
import { postgresGuard, type Transaction } from '../../../src/fencing/postgres.js';
import { fakeTerm } from '../../conformance/terms.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let server: Postgres;
let made = 0;
let resource = '';
beforeAll(async () => {
  server = await startPostgres();
  const client = new pg.Client(server.config);
  await client.connect();
  await postgresGuard({ client }).migrate();
  await client.end();
});
afterAll(() => server?.close());
beforeEach(() => {
  made += 1;
  resource = `resource-${made}`;
});

/** A term with an end, which its assert() knows. */
function shortTerm(forMs: number) {
  const term = fakeTerm(1n, { forMs });
  return {
    ...term,
    assert: () => {
      if (term.remainingMs() <= 0) throw new NotLeadingError('over');
    },
  };
}

async function backend(client: { query: (text: string) => Promise<pg.QueryResult> }): Promise<number> {
  return (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
}

describe('a server that hangs', () => {
  let pool: pg.Pool;
  let stopped: number | undefined;
  beforeEach(() => {
    pool = new pg.Pool({ ...server.config, max: 1 });
    pool.on('error', () => undefined);
    stopped = undefined;
  });
  const stop = (pid: number) => {
    process.kill(pid, 'SIGSTOP');
    stopped = pid;
  };
  /** Runs it with the time it took; a hang without end would be seen by the test's own limit. */
  const timed = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    const error = await work().catch((e: unknown) => e);
    const took = performance.now() - start;
    if (stopped !== undefined) process.kill(stopped, 'SIGCONT');
    // The pool has thrown that connection away, and goes on.
    await postgresGuard({ pool }).check(fakeTerm(1n), resource);
    await pool.end();
    return { error, took };
  };

  test('in BEGIN holds nobody past the lease', async () => {
    const client = await pool.connect();
    stop(await backend(client));
    client.release();
    const { error, took } = await timed(() => postgresGuard({ pool }).check(shortTerm(300), resource));
    expect(error).toBeInstanceOf(NotLeadingError);
    expect(took).toBeLessThan(2_000);
  });

  test('in a statement of the work holds nobody past the lease', async () => {
    const { error, took } = await timed(() =>
      postgresGuard({ pool }).transaction(shortTerm(300), resource, async (tx) => {
        stop(await backend(tx as Transaction<pg.PoolClient>));
        await tx.query('SELECT 1');
      }),
    );
    expect(error).toBeInstanceOf(NotLeadingError);
    expect(took).toBeLessThan(2_000);
  });

  test('in COMMIT holds nobody past the lease, and what became of it is unknown', async () => {
    const { error, took } = await timed(() =>
      postgresGuard({ pool }).transaction(shortTerm(300), resource, async (tx) => {
        stop(await backend(tx as Transaction<pg.PoolClient>));
      }),
    );
    expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN' });
    expect(took).toBeLessThan(2_000);
  });

  test('in ROLLBACK holds nobody past the lease', async () => {
    const { error, took } = await timed(() =>
      postgresGuard({ pool }).transaction(shortTerm(300), resource, async (tx) => {
        stop(await backend(tx as Transaction<pg.PoolClient>));
        throw new NotLeadingError('given up');
      }),
    );
    expect(error).toMatchObject({ message: 'given up' });
    expect(took).toBeLessThan(2_000);
  });
});

describe('a leader that is frozen in COPY … FROM STDIN, which no timer of the server ends,', () => {
  for (const term of ['first', 'second'] as const) {
    test(`is ended by its successor after its lease (${term} transaction)`, async () => {
      const pool = new pg.Pool({ ...server.config, max: 4 });
      pool.on('error', () => undefined);
      await pool.query('CREATE TABLE IF NOT EXISTS copied (note text)');
      const guard = postgresGuard({ pool });
      if (term === 'second') await guard.check(fakeTerm(1n), resource);
      let frozen: () => void = () => undefined;
      const inside = new Promise<void>((resolve) => {
        frozen = resolve;
      });
      const older = guard
        .transaction(fakeTerm(1n, { forMs: 1_500 }), resource, async (tx) => {
          await new Promise((resolve, reject) => {
            const copy = {
              submit: (connection: { query(text: string): void }) => connection.query('COPY copied FROM STDIN'),
              // Nothing is sent, neither data nor the end of it.
              handleCopyInResponse: () => frozen(),
              handleError: reject,
              handleCommandComplete: () => undefined,
              handleReadyForQuery: resolve,
            };
            tx.query(copy as unknown as string);
          });
        })
        .catch((error: unknown) => error);
      await inside;
      const start = performance.now();
      await guard.check(fakeTerm(2n, { forMs: 15_000 }), resource);
      const took = performance.now() - start;
      // Not before its lease was over.
      expect(took).toBeGreaterThan(1_000);
      expect(took).toBeLessThan(4_500);
      expect(await older).toBeInstanceOf(Error);
      await pool.end();
    });
  }
});

test('a leader that is frozen while the server sends it an answer, which no timer ends either, is ended by its successor', async () => {
  const pool = new pg.Pool({ ...server.config, max: 4 });
  pool.on('error', () => undefined);
  const guard = postgresGuard({ pool });
  await guard.check(fakeTerm(1n), resource);
  let thaw: () => void = () => undefined;
  const older = guard
    .transaction(fakeTerm(1n, { forMs: 1_500 }), resource, async (tx) => {
      await new Promise((resolve, reject) => {
        const endless = {
          submit: (connection: { query(text: string): void; stream: NodeJS.ReadableStream }) => {
            connection.query("SELECT repeat('x', 10000) FROM generate_series(1, 1000000)");
            connection.stream.pause();
            thaw = () => void connection.stream.resume();
          },
          handleRowDescription: () => undefined,
          handleDataRow: () => undefined,
          handleError: reject,
          handleCommandComplete: () => undefined,
          handleReadyForQuery: resolve,
        };
        tx.query(endless as unknown as string);
      });
    })
    .catch((error: unknown) => error);
  await sleep(200);
  const start = performance.now();
  await guard.check(fakeTerm(2n, { forMs: 15_000 }), resource);
  const took = performance.now() - start;
  // Not before its lease was over.
  expect(took).toBeGreaterThan(1_000);
  expect(took).toBeLessThan(4_500);
  thaw();
  expect(await older).toBeInstanceOf(Error);
  await pool.end();
});

describe('one client', () => {
  let client: pg.Client;
  beforeEach(async () => {
    client = new pg.Client(server.config);
    client.on('error', () => undefined);
    await client.connect();
    return () => client.end();
  });

  test('waiting for one’s turn ends with the lease, and the turn passes on', async () => {
    const guard = postgresGuard({ client });
    let end: () => void = () => undefined;
    const first = guard.transaction(
      fakeTerm(1n),
      resource,
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    await sleep(20);
    const late = guard.check(shortTerm(100), resource);
    const next = guard.check(fakeTerm(1n), resource);
    await expect(late).rejects.toBeInstanceOf(NotLeadingError);
    end();
    await Promise.all([first, next]);
  });

  test('what a transaction has left running may begin one of its own later', async () => {
    const guard = postgresGuard({ client });
    let later: Promise<unknown> = Promise.resolve();
    await guard.transaction(fakeTerm(1n), resource, () => {
      later = sleep(50).then(() => guard.check(fakeTerm(1n), resource));
    });
    await later;
  });
});
