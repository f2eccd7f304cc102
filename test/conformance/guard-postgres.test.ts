import pg from 'pg';
import { startPostgres, waitFor } from '../../deploy/local/index.js';
import { type Isolation, postgresGuard } from '../../src/fencing/postgres.js';
import { type Access, guardConformance, type Harness } from './guard.js';

for (const isolation of ['read committed', 'serializable'] as const) {
  guardConformance(`PostgreSQL, a pool, ${isolation}`, () => postgresHarness(isolation, 'pool'));
}
guardConformance('PostgreSQL, a pool of one connection', () => postgresHarness('read committed', 'pool', 1));
guardConformance('PostgreSQL, a client', () => postgresHarness('read committed', 'client'));

async function postgresHarness(isolation: Isolation, kind: 'pool' | 'client', max = 8): Promise<Harness> {
  const server = await startPostgres();
  const closing: (() => Promise<unknown>)[] = [];
  const connect = async () => {
    if (kind === 'pool') {
      const pool = new pg.Pool({ ...server.config, max });
      pool.on('error', () => undefined);
      closing.push(() => pool.end());
      return { pool };
    }
    const client = new pg.Client(server.config);
    client.on('error', () => undefined);
    await client.connect();
    closing.push(() => client.end());
    return { client };
  };
  const reader = new pg.Pool({ ...server.config, max: 1 });
  reader.on('error', () => undefined);
  closing.push(() => reader.end());
  await reader.query('CREATE TABLE log (id bigserial PRIMARY KEY, resource text, token bigint)');
  await postgresGuard({ pool: reader }).migrate();
  return {
    completeLog: true,
    leaseKnown: true,
    async open(observer): Promise<Access> {
      const connections = await connect();
      const options = { isolation, ...(observer && { observer }) };
      const guard =
        'pool' in connections
          ? postgresGuard(connections as { pool: pg.Pool }, options)
          : postgresGuard(connections as { client: pg.Client }, options);
      return {
        check: (term, resource) => guard.check(term, resource),
        highest: async (resource) => guard.highest(resource),
        write: (term, resource, pause) =>
          guard.transaction(term, resource, async (tx) => {
            await pause?.();
            await tx.query('INSERT INTO log (resource, token) VALUES ($1, $2)', [resource, String(term.token)]);
          }),
      };
    },
    async log(resource) {
      const { rows } = await reader.query('SELECT token::text FROM log WHERE resource = $1 ORDER BY id', [resource]);
      return rows.map((row) => BigInt(row.token));
    },
    async restart() {
      await server.kill();
      // Its sessions' own processes may outlive it for a moment, and keep a new one from starting.
      await waitFor(
        () =>
          server.start().then(
            () => true,
            () => false,
          ),
        { what: 'PostgreSQL to start again' },
      );
    },
    async close() {
      await Promise.allSettled(closing.map((each) => each()));
      await server.close();
    },
  };
}
