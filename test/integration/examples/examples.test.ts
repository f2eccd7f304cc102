import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ensemble, type Postgres, startEnsemble, startPostgres } from '../../../deploy/local/index.js';
import { postgresGuard } from '../../../src/fencing/postgres.js';
import { Operator } from '../../support/operator.js';
import { missing } from '../../support/tools.js';
import { SidecarProcess } from '../agent/sidecar-process.js';
import { EXAMPLES, type Example, Program, WRAPPED } from './programs.js';

/* The examples in other languages: each leads with a real token, and writes to a table that refuses older ones. */

let ensemble: Ensemble;
let postgres: Postgres;
let sidecar: SidecarProcess;
let operator: Operator;
let pool: pg.Pool;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  [ensemble, postgres] = await Promise.all([startEnsemble({ size: 1, tickTime: 500, fsync: false }), startPostgres()]);
  pool = new pg.Pool({ ...postgres.config, max: 2 });
  pool.on('error', () => undefined);
  await postgresGuard({ pool }).migrate();
  await pool.query('CREATE TABLE payment (id bigserial PRIMARY KEY, token bigint NOT NULL, holder text NOT NULL)');
  operator = await Operator.at(ensemble.connectString, { sessionTimeoutMs: 10_000 });
  sidecar = await SidecarProcess.start(ensemble.connectString, { args: ['--session-timeout', '4s'] });
  await sidecar.ready();
  env = {
    DATABASE_URL: `${postgres.url}?sslmode=disable`,
    ZK_SERVERS: ensemble.connectString,
    TENURE_SERVERS: ensemble.connectString,
    TENURE_URL: sidecar.url,
  };
}, 120_000);

afterAll(async () => {
  await Promise.all([sidecar?.kill(), operator?.close(), pool?.end()]);
  await Promise.all([ensemble?.close(), postgres?.close()]);
});

let elections = 0;

async function start(example: Example, election: string, id: string): Promise<Program> {
  return new Program(await example.worker(election, id), [], { ...env, ELECTION: election, WORKER: id });
}

/** It leads with the transaction that created its znode as token, and has written with it. */
async function leads(program: Program, election: string, from = 0): Promise<bigint> {
  const [, token = ''] = await program.until(/ leads: token (\d+)$/, from);
  await program.until(new RegExp(`wrote with token ${token}$`), from);
  expect(String((await operator.queue(election))[0]?.czxid)).toBe(token);
  return BigInt(token);
}

async function write(example: Example, token: bigint): Promise<{ code: number | null; said: string }> {
  await using program = new Program(await example.write(), [String(token), 'by hand'], env);
  return { code: await program.exited, said: program.text };
}

async function highest(): Promise<bigint> {
  const { rows } = await pool.query("SELECT token FROM tenure.fence WHERE resource = 'ledger'");
  return BigInt(rows[0].token);
}

/** What a newer token has accepted is followed by nothing older. */
async function inOrder(since: bigint): Promise<void> {
  const { rows } = await pool.query('SELECT token FROM payment WHERE token >= $1 ORDER BY id', [since]);
  const tokens = rows.map(({ token }) => BigInt(token));
  expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
}

const skipped = (example: Example) => {
  const absent = missing(...example.tools);
  return { example, why: process.env['TENURE_REQUIRE_ALL'] ? undefined : absent };
};

for (const { example, why } of EXAMPLES.map(skipped)) {
  describe.skipIf(why !== undefined)(`${example.name}${why ? ` (${why})` : ''}`, { timeout: 240_000 }, () => {
    test('leads with its own token; frozen and overtaken, nothing of it is written any more; an old token is refused', async () => {
      const election = `example-${++elections}`;
      await using first = await start(example, election, 'first');
      const old = await leads(first, election);
      first.signal('SIGSTOP');
      await using second = await start(example, election, 'second');
      const token = await leads(second, election);
      expect(token).toBeGreaterThan(old);

      expect(await write(example, old)).toMatchObject({ code: 3, said: expect.stringContaining('refused: ') });
      expect(await write(example, await highest())).toMatchObject({ code: 0, said: expect.stringContaining('wrote') });

      const before = first.lines.length;
      first.signal('SIGCONT');
      // Refused, or told of its dead session: whichever comes first when it wakes.
      if (example.endsWithItsTerm) await first.until(/^first (was refused: .*refused token|has left)/, before);
      second.signal('SIGTERM');
      await second.until(/has left$/);
      await second.exited;
      if (!example.endsWithItsTerm) expect(await leads(first, election, before)).toBeGreaterThan(token);
      await inOrder(old);
    });
  });
}

const wrapped = skipped(WRAPPED);
describe.skipIf(wrapped.why !== undefined)(`${WRAPPED.name}${wrapped.why ? ` (${wrapped.why})` : ''}`, () => {
  test('finds its token in its environment, and hands over when it is told to stop', { timeout: 120_000 }, async () => {
    const election = `example-${++elections}`;
    await using first = await start(WRAPPED, election, 'first');
    const old = await leads(first, election);
    await using second = await start(WRAPPED, election, 'second');
    await operator.queueOf(election, 2);
    first.signal('SIGTERM');
    await first.exited;
    const token = await leads(second, election);
    expect(token).toBeGreaterThan(old);
    expect((await write(WRAPPED, old)).code).toBe(3);
    await inOrder(old);
  });
});
