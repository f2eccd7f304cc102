import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { apply } from '../../../src/cli/provision/apply.js';
import { plan } from '../../../src/cli/provision/plan.js';
import { type ConnectOptions, connect } from '../../../src/index.js';
import { Attempt } from '../../../src/lifeline/attempt.js';
import { sessionIdOf } from '../../../src/zookeeper/wire/handshake.js';
import { type Request, remove, setData } from '../../../src/zookeeper/wire/requests.js';
import type { WireSession } from '../../../src/zookeeper/wire/session.js';
import { Contender } from '../../support/contender.js';
import { sessionPassword } from '../../support/session-password.js';
import { closeAll, open } from '../wire/support.js';
import { GapLine } from './gap-line.js';
import { fate, Party } from './parties.js';

/* Somebody who reaches the port of the ensemble, without credentials, wants to lead, or to have two lead. */

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const T = 4_000;
const ops = new Party('ops');
const workers = new Party('workers');
const OWN = [{ scheme: 'auth', id: '', permissions: 'rw' }];
const EVERYBODY = [{ scheme: 'world', id: 'anyone', permissions: 31 }];
const ENDED = Buffer.from('{"v":1,"ended":"died"}');

let ensemble: Ensemble;
let operator: WireSession;
let thief: WireSession;
let count = 0;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 200, fsync: false });
  operator = await open(ensemble.connectString, { auth: ops.auth, sessionTimeoutMs: 20_000 });
  thief = await open(ensemble.connectString, { sessionTimeoutMs: 20_000 });
});

afterAll(async () => {
  await closeAll();
  await ensemble?.close();
});

/** A root with one election, `e`, that is closed to all but the workers. */
async function closed(): Promise<string> {
  const root = `/closed-${++count}`;
  const parties = {
    own: [{ scheme: 'digest', id: ops.id }],
    admins: [],
    workers: [{ scheme: 'digest', id: workers.id }],
  };
  await apply(operator, plan(root, ['e'], parties), (acl) => acl, false);
  return root;
}

const line = () => GapLine.to(ensemble.servers[0] as (typeof ensemble.servers)[0]);
const standing = async (root: string) => (await operator.children(`${root}/e/queue`))?.names ?? [];

describe('in the moment before the native driver has closed a znode', () => {
  const settings = (root: string): Omit<ConnectOptions, 'servers'> => {
    return { root, sessionTimeoutMs: T, driver: 'native', auth: workers.auth, acl: OWN };
  };

  it('a candidate can’t be deleted: that is a right to the queue', async () => {
    const root = await closed();
    await using gap = await line();
    let tried = '';
    gap.inTheGap('/queue/', async (path) => {
      tried = await fate(thief.remove(path));
      expect(await thief.acl(path)).toEqual(EVERYBODY);
    });
    await using worker = await Contender.enter(gap.address, 'e', 'worker', settings(root));
    await worker.leading();
    expect(tried).toBe('no_auth');
    const [node = ''] = await standing(root);
    expect(await operator.acl(`${root}/e/queue/${node}`).catch(() => null)).toBeNull();
    expect(await fate(thief.read(`${root}/e/queue/${node}`))).toBe('no_auth');
  });

  const tampering: readonly [string, (path: string) => Promise<unknown>][] = [
    ['overwritten', (path) => thief.write(path, Buffer.from('{"v":1,"id":"mallory"}'), -1)],
    [
      'taken by an ACL',
      (path) => thief.setAcl(path, [{ scheme: 'digest', id: new Party('mallory').id, permissions: 31 }]),
    ],
    ['left with an ACL that lets us in as well', (path) => thief.setAcl(path, [...EVERYBODY])],
  ];

  it.each(tampering.slice(0, 2))('a candidate that was %s doesn’t stand', async (_what, tamper) => {
    const root = await closed();
    await using gap = await line();
    gap.inTheGap('/queue/', async (path) => void (await tamper(path)));
    await using worker = await connect({ ...settings(root), servers: gap.address });
    await expect(worker.election('e').campaign()).rejects.toMatchObject({
      kind: 'no_auth',
      message: expect.stringMatching(/by somebody else before it could be closed.*driver 'wire'/),
    });
    expect(await standing(root)).toEqual([]);
    // Nothing of it stays: the next attempt is a candidate like any other.
    const term = await worker.election('e').campaign();
    expect(term.number).toBe(1);
    await term.resign();
  });

  it('a candidate that was left open is closed all the same', async () => {
    const root = await closed();
    await using gap = await line();
    gap.inTheGap('/queue/', async (path) => void (await tampering[2]?.[1](path)));
    await using worker = await Contender.enter(gap.address, 'e', 'worker', settings(root));
    await worker.leading();
    const [node] = await standing(root);
    expect(await fate(thief.write(`${root}/e/queue/${node}`, ENDED, -1))).toBe('no_auth');
  });

  it('a forged end of the session of a leader-to-be is noticed before anybody could believe it', async () => {
    const root = await closed();
    await using gap = await line();
    let session = '';
    gap.inTheGap('/sessions/', async (path) => {
      session = path;
      await thief.write(path, ENDED, -1);
    });
    await using worker = await connect({ ...settings(root), servers: gap.address });
    await expect(worker.election('e').campaign()).rejects.toMatchObject({ kind: 'no_auth' });
    expect((await operator.read(`${root}/e/term`))?.data).toHaveLength(0);
    expect(session).toContain(`${root}/sessions/`);
  });
});

/** Goes on with the leader's session by the password that anybody can compute, asks for this, and ends it. */
async function takeOver(sessionId: string, requests: readonly Request[]): Promise<void> {
  const id = sessionIdOf(sessionId);
  const server = ensemble.servers[0];
  const identity = { id, password: Buffer.from(sessionPassword(id)) };
  // The server may drop the new connection along with the old one, once; a thief would try again.
  await waitFor(() => attempt(), { what: 'the session to be taken over', intervalMs: 20 });

  async function attempt(): Promise<boolean> {
    const socket = createConnection({ host: server?.host ?? '', port: server?.clientPort ?? 0, noDelay: true });
    const taken = new Attempt(socket, { identity, timeoutMs: T, auth: [], requests });
    const outcome = await taken.done.catch(() => 'dropped');
    if (outcome === 'answered') await taken.close();
    return outcome !== 'dropped';
  }
}

describe.each(['wire', 'native'] as const)('a session of a leader with the %s driver that is taken over', (driver) => {
  /** A leader that hears nothing any more, its successor, and the thief's requests within the leader's session. */
  async function robbed(root: string, settings: Partial<ConnectOptions>) {
    const gap = await line();
    const common = { root, sessionTimeoutMs: T, driver, ...settings } as const;
    const leader = await Contender.enter(gap.address, 'e', 'leader', common);
    const term = await leader.leading();
    const successor = await Contender.enter(ensemble.connectString, 'e', 'successor', common);
    await successor.joined();
    const record = JSON.parse(Buffer.from((await operator.read(`${root}/e/term`))?.data ?? []).toString());
    const session = `${root}/sessions/${record.session}`;
    // Sightings, so that patience counts from the newest renewal.
    await new Promise((resolve) => setTimeout(resolve, T / 4));
    const id = leader.tenure.session?.id ?? '';
    gap.silence();
    const requests = [
      setData(session, ENDED, -1),
      setData(`${root}/e/term`, Buffer.from(JSON.stringify({ ...record, ended: { at: '', how: 'died' } })), -1),
      remove(`${root}/e/queue/${record.node}`, -1),
    ];
    await takeOver(id, requests);
    const next = await waitFor(() => successor.term, { what: 'a successor', intervalMs: 1 });
    const left = term.remainingMs();
    const forged = JSON.parse(Buffer.from((await operator.read(`${root}/e/term`))?.data ?? []).toString());
    const close = async () => {
      await gap[Symbol.asyncDispose]();
      await Promise.all([leader.stop(), successor.stop()]);
    };
    return { term, next, left, forged, close, patient: successor.count('patient') };
  }

  it('changes who leads, and forges nothing where ACLs are: no two leases overlap', async () => {
    const { term, next, left, forged, close, patient } = await robbed(await closed(), { auth: workers.auth, acl: OWN });
    expect(left).toBe(0);
    expect(() => term.assert()).toThrow();
    expect(patient).toBe(1);
    expect(next.number).toBe(2);
    expect(next.token).toBeGreaterThan(term.token);
    expect(forged.previous).toMatchObject({ end: 'vanished' });
    await close();
  });

  it('forges an end without ACLs, so that two believe to lead: what is left is the guard, as tokens grow', async () => {
    const root = `/open-${++count}`;
    const { term, next, left, close } = await robbed(root, {});
    expect(left).toBeGreaterThan(0);
    expect(next.token).toBeGreaterThan(term.token);
    await close();
  });
});
