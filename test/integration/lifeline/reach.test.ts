import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type Ensemble,
  leasePort,
  type PortLease,
  startEnsemble,
  waitFor,
  type ZooKeeperServer,
} from '../../../deploy/local/index.js';
import { type ConnectOptions, connect } from '../../../src/index.js';
import { groupsMarked, signalGroup } from '../../../src/lifeline/processes.js';
import { Lines } from '../../../src/verify/lines.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { ActBook } from '../../support/acts.js';
import { expire } from '../../support/expire.js';
import { Mortal } from '../../support/mortals.js';
import { Operator } from '../../support/operator.js';
import { WorkerProcess } from '../../support/worker-process.js';
import { Authority, secureServer } from '../wire/certificates.js';

/* The helper has to get through whatever its parent got through, and to know what its parent knew last. */

const T = 5_000;
const LEASE = (T * 2) / 3;

let directory: string;
let port: PortLease;
let ensemble: Ensemble;
let operator: Operator;
let tls: NonNullable<ConnectOptions['tls']>;
let elections = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tenure-lifeline-'));
  const authority = await Authority.make(join(directory, 'authority'));
  const server = await authority.sign('server', 'DNS:localhost,IP:127.0.0.1');
  const client = await authority.sign('client', 'DNS:client');
  tls = { caFile: authority.caFile, certFile: client.certFile, keyFile: client.keyFile };
  port = await leasePort();
  ensemble = await startEnsemble({
    size: 1,
    tickTime: 500,
    fsync: false,
    extraConfig: secureServer(authority, server, port.port),
  });
  operator = await Operator.at(ensemble.connectString, { sessionTimeoutMs: 10_000 });
}, 120_000);

afterAll(async () => {
  await operator?.close();
  await ensemble?.close();
  port?.release();
  rmSync(directory, { recursive: true, force: true });
});

/** Kills a leader that is connected in this way, and tells how long nobody led and what the next one was told. */
async function kill(
  servers: string,
  more: Pick<ConnectOptions, 'driver' | 'tls' | 'acl' | 'auth'>,
  {
    prepare = () => {},
    next = servers,
  }: { prepare?: () => void /** Where the next one connects. */; next?: string } = {},
) {
  elections += 1;
  const election = `reach-${elections}`;
  const options = { servers, sessionTimeoutMs: T };
  const leader = await Mortal.leads({ ...options, election, id: 'leader', lifeline: true, more });
  onTestFinished(() => leader.kill());
  await using tenure = await connect({ ...options, ...more, servers: next, lifeline: false });
  const joined = new Promise((resolve) => tenure.events.once('joined', resolve));
  const campaign = tenure.election(election, { id: 'successor' }).campaign();
  await joined;
  await sleep(T / 5);
  prepare();
  const begin = monotonicMs();
  await leader.kill();
  const term = await campaign;
  const ms = monotonicMs() - begin;
  await term.resign();
  return { ms, end: term.previous?.end };
}

describe('it reaches the servers', () => {
  const ACL = [{ scheme: 'auth', id: '', permissions: 'cdrwa' }];

  it('by TLS, where the nodes are kept to the holder of a certificate', async () => {
    const { ms, end } = await kill(`localhost:${port.port}/tls`, { driver: 'wire', tls, acl: ACL });
    expect(end).toBe('died');
    expect(ms).toBeLessThan(LEASE);
  });

  it('with credentials, where the nodes are kept to those who have them', async () => {
    const auth = [{ scheme: 'digest', credential: 'worker:secret' }];
    const { ms, end } = await kill(`${ensemble.connectString}/digest`, { driver: 'wire', auth, acl: ACL });
    expect(end).toBe('died');
    expect(ms).toBeLessThan(LEASE);
  });

  it('by the next one, when the first one hangs or is gone', async () => {
    await using three = await startEnsemble({ tickTime: 500, fsync: false });
    const [first, second] = await three.followers();
    const leader = await three.leader();
    const nobody = await leasePort();
    nobody.release();
    const order = [first, leader, second].map((server) => `${server?.host}:${server?.clientPort}`);
    const servers = [`127.0.0.1:${nobody.port}`, ...order].join(',');
    // The next one isn't at the server that hangs: coming from there it would find the session gone, and no word of how.
    const { ms, end } = await kill(
      servers,
      { driver: 'wire' },
      { prepare: () => first?.freeze(), next: order[1] ?? '' },
    );
    first?.thaw();
    expect(end).toBe('died');
    expect(ms).toBeLessThan(T);
  });
});

it('follows its parent from session to session', async () => {
  await using lines = new Lines();
  const server = ensemble.servers[0] as ZooKeeperServer;
  const line = await lines.to(server);
  const election = 'reach-sessions';
  const book = new ActBook();
  const parameters = { servers: line.address, election, id: 'worker', sessionTimeoutMs: T, lifeline: true };
  const worker = await WorkerProcess.start(parameters, { book });
  onTestFinished(() => worker.kill());
  const [before] = await operator.queueOf(election, 1);
  await waitFor(() => book.all.length === 1, { what: 'the first term' });
  await expire(server, before?.owner ?? '', line);
  await waitFor(() => book.all.length === 2, { what: 'the second term' });
  const [after] = await operator.queueOf(election, 1);
  expect(after?.owner).not.toBe(before?.owner);
  const begin = monotonicMs();
  await worker.kill();
  await operator.queueOf(election, 0, LEASE);
  expect(monotonicMs() - begin).toBeLessThan(LEASE);
});

describe('a child that is being started when its parent', () => {
  const program = fileURLToPath(new URL('../../support/unfinished.ts', import.meta.url));

  it.each([
    ['is killed', 'die', 60_000],
    ['is frozen, until the lease is over', 'freeze', 2_500],
  ])('%s: nothing of it is left', async (_what, how, leaseMs) => {
    const mark = `TENURE_TEST=${randomUUID()}`;
    const parent = spawn(process.execPath, ['--import', 'tsx', program, how, mark, String(leaseMs)], {
      stdio: 'inherit',
    });
    onTestFinished(() => {
      parent.kill('SIGKILL');
      for (const group of groupsMarked(mark)) signalGroup(group, 'SIGKILL');
    });
    if (how === 'freeze') await waitFor(() => groupsMarked(mark).length > 0, { what: 'the child', intervalMs: 5 });
    else await new Promise((resolve) => parent.once('exit', resolve));
    await waitFor(() => groupsMarked(mark).length === 0, { what: 'the end of the child' });
  });
});
