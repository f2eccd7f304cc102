import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exchange } from '../../deploy/local/exchange.js';
import {
  type Ensemble,
  leasePort,
  type Postgres,
  startEnsemble,
  startPostgres,
  startRedis,
  waitFor,
  type ZooKeeperServer,
} from '../../deploy/local/index.js';

const local = new URL('../../deploy/local/index.ts', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'tenure-starter-'));
chmodSync(folder, 0o711); // PostgreSQL doesn't run as root, and has to get in.
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Another process, that runs this script. */
function run(script: string): ChildProcess {
  const file = join(folder, `${randomUUID()}.mts`);
  writeFileSync(file, script);
  return fork(file, { execArgv: ['--import', import.meta.resolve('tsx')] });
}

/** The last transaction that a server has applied. */
async function zxid(server: ZooKeeperServer): Promise<bigint> {
  return BigInt(/^Zxid: (\S+)$/m.exec(await server.ask('srvr'))?.[1] ?? '0');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('an ensemble of three', () => {
  let ensemble: Ensemble;
  const lines: string[] = [];

  beforeAll(async () => {
    ensemble = await startEnsemble({
      size: 3,
      tickTime: 500,
      syncLimit: 3,
      fsync: false,
      metrics: true,
      onProgress: (line) => lines.push(line),
    });
  });
  afterEach(() => ensemble.restore());
  afterAll(() => ensemble?.close());

  test('serves, with one leader, and says how it came up', async () => {
    const modes = await Promise.all(ensemble.servers.map((server) => server.mode()));
    expect(modes.toSorted()).toEqual(['follower', 'follower', 'leader']);
    expect((await ensemble.followers()).length).toBe(2);
    expect(ensemble.connectString.split(',')).toEqual(ensemble.servers.map((server) => server.address));
    expect(await ensemble.servers[0]?.ask('ruok')).toBe('imok');
    expect(lines.at(-1)).toContain(ensemble.connectString);
  });

  test('exports metrics', async () => {
    const response = await fetch(ensemble.servers[0]?.metricsUrl ?? '');
    expect(await response.text()).toMatch(/^znode_count /m);
  });

  test('elects another leader when the leader is killed, and takes it back', async () => {
    const old = await ensemble.waitForLeader();
    const { address } = old;
    await old.kill();
    expect(old.pid).toBeUndefined();
    expect(await old.mode()).toBe('down');
    const next = await ensemble.waitForLeader({ not: old });
    expect(next.id).not.toBe(old.id);
    await old.start();
    await old.waitUntilServing();
    expect(old.address).toBe(address);
    expect(await old.mode()).toBe('follower');
  });

  test('elects another leader when the leader is frozen, and the old one follows once thawed', async () => {
    const old = await ensemble.waitForLeader();
    old.freeze();
    expect(old.frozen).toBe(true);
    expect(isAlive(old.pid ?? 0)).toBe(true);
    await expect(old.ask('ruok', 200)).rejects.toThrow('no answer');
    await ensemble.waitForLeader({ not: old });
    old.thaw();
    await waitFor(async () => (await old.mode()) === 'follower', { what: 'the thawed server to follow' });
  });

  test('has no leader without a quorum', async () => {
    const followers = await ensemble.followers();
    for (const follower of followers) follower.freeze();
    await waitFor(async () => (await ensemble.leader()) === undefined, { what: 'the leader to give up' });
    await ensemble.restore();
    expect(await ensemble.leader()).toBeDefined();
  });

  test('restarts a server', async () => {
    const server = ensemble.servers[0] as ZooKeeperServer;
    const before = server.pid;
    await server.restart();
    expect(server.pid).not.toBe(before);
    expect(server.running).toBe(true);
  });

  test('a wiped server gets everything from the others', async () => {
    const [server] = await ensemble.followers();
    if (!server) throw new Error('no follower');
    expect(() => server.wipe()).toThrow('stop it');
    await server.stop();
    server.wipe();
    expect(existsSync(server.dataDirectory)).toBe(false);
    await server.start();
    await server.waitUntilServing();
    const leader = await ensemble.waitForLeader();
    await waitFor(async () => (await zxid(server)) === (await zxid(leader)), { what: 'the wiped server to catch up' });
  });
});

test('a lone server is standalone', async () => {
  await using ensemble = await startEnsemble({ size: 1, fsync: false });
  expect(await ensemble.servers[0]?.mode()).toBe('standalone');
  expect(await ensemble.leader()).toBe(ensemble.servers[0]);
});

test('a failed start names the log and shows its end', async () => {
  const error: Error = await startEnsemble({ size: 1, extraConfig: ['tickTime=none'] }).then(
    () => Promise.reject(new Error('it started')),
    (reason) => reason,
  );
  expect(error.message).toMatch(/server 1 ended \(code \d+\).*server\.log/);
  expect(error.message).toContain('NumberFormatException');
  rmSync(/(\S+)\/server-1/.exec(error.message)?.[1] ?? '', { recursive: true, force: true });
});

describe('PostgreSQL', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.close());

  async function query(text: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  test('keeps its data over a restart and over a kill', async () => {
    await query('create table kept (n int)');
    await query('insert into kept values (1)');
    const before = server.pid;
    await server.restart();
    expect(server.pid).not.toBe(before);
    await query('insert into kept values (2)');
    await server.kill();
    // Its own processes may hold the port a moment longer, and then drop who came.
    await expect(query('select 1')).rejects.toThrow(/ECONNREFUSED|ECONNRESET|terminated/);
    await server.start();
    expect(await query('select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

test('Redis keeps its data over a kill when it is append-only', async () => {
  await using server = await startRedis({ appendOnly: true });
  const ask = (command: string): Promise<string> =>
    exchange(server.host, server.port, `${command}\r\n`, (answer) => answer.endsWith('\r\n'));
  expect(await ask('SET kept 1')).toBe('+OK\r\n');
  await server.kill();
  await server.start();
  expect(await ask('GET kept')).toBe('$1\r\n1\r\n');
});

describe('ports', () => {
  test('come from below those that the system hands out', async () => {
    const leases = await Promise.all(Array.from({ length: 50 }, () => leasePort()));
    const ports = leases.map((lease) => lease.port);
    for (const lease of leases) lease.release();
    expect(new Set(ports).size).toBe(50);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  });

  test('stay with the process that leased them, though nothing listens there', async () => {
    const lease = await leasePort();
    const script = `import { leaseGivenPort } from ${JSON.stringify(local)};
      leaseGivenPort(${lease.port}).then(() => process.send!('had'), (error) => process.send!(error.message));`;
    const ask = async (): Promise<unknown> => (await once(run(script), 'message'))[0];
    expect(await ask()).toBe(`port ${lease.port} on 127.0.0.1 is in use`);
    lease.release();
    expect(await ask()).toBe('had');
  });
});

describe('servers end with the process that started them', () => {
  /** A process that starts one of each and tells their pids. */
  async function starter(): Promise<{ child: ChildProcess; pids: number[] }> {
    const child = run(`import { startEnsemble, startPostgres, startRedis } from ${JSON.stringify(local)};
      const directory = (name: string) => ({ directory: ${JSON.stringify(folder)} + '/' + process.pid + name });
      const [ensemble, postgres, redis] = await Promise.all([
        startEnsemble({ size: 1, ...directory('zookeeper') }), startPostgres(directory('postgres')), startRedis(directory('redis')),
      ]);
      process.send!([ensemble.servers[0]!.pid, postgres.pid, redis.pid]);`);
    const early = once(child, 'exit').then(() => Promise.reject(new Error('the starter ended early')));
    const [pids] = (await Promise.race([once(child, 'message'), early])) as [number[]];
    early.catch(() => {});
    return { child, pids };
  }

  test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('by %s', async (signal) => {
    const { child, pids } = await starter();
    expect(pids.every(isAlive)).toBe(true);
    child.kill(signal);
    await once(child, 'exit');
    await waitFor(() => pids.every((pid) => !isAlive(pid) || isZombie(pid)), {
      what: 'the servers to end',
    });
  });
});

/** Ended, and not collected yet by whoever inherited it. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return true;
  }
}
