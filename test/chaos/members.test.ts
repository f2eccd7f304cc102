import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../../deploy/local/index.js';
import { Hands } from '../../src/verify/hands.js';
import type { Happening } from '../../src/verify/history.js';
import { watchQuorum } from '../../src/verify/quorum.js';
import { Members, type Outcome, superuserOption } from './members.js';

let ensemble: Ensemble;
let members: Members;

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 3, tickTime: 300, fsync: false, javaOptions: [superuserOption()] });
  members = new Members(ensemble);
});
afterAll(() => ensemble.close());

// Whatever the test before did: no change is under way, and both followers are in step.
beforeEach(async () => {
  await ensemble.restore();
  for (const server of await members.missing()) await members.restore(server);
  await waitFor(
    async () => /^zk_synced_followers\t2/m.test(await (await ensemble.waitForLeader()).ask('mntr').catch(() => '')),
    { what: 'both followers to be in step' },
  );
});

async function version(): Promise<bigint> {
  return (await members.configuration())?.version ?? 0n;
}

/** Asks until it is answered: on a busy machine the one that is to answer may be on its way out, or late. */
async function remove(server: ZooKeeperServer): Promise<Outcome> {
  for (;;) {
    const before = await version();
    const outcome = await members.remove(server);
    if (outcome.kind !== 'unanswered') return outcome;
    await sleep(200);
    const now = await version();
    if (now > before && (await members.missing()).includes(server)) return { kind: 'changed', version: now };
  }
}

async function ids(): Promise<readonly number[] | undefined> {
  return (await members.configuration())?.ids.toSorted();
}

test('a follower is taken out and put back: each is a new configuration, and the leader stays', async () => {
  const leader = await ensemble.waitForLeader();
  const [follower] = await ensemble.followers();
  if (follower === undefined) throw new Error('no follower');
  const before = await version();
  const removed = await remove(follower);
  expect(removed).toEqual({ kind: 'changed', version: await version() });
  expect(await version()).toBeGreaterThan(before);
  expect((await members.missing()).map(({ id }) => id)).toEqual([follower.id]);
  const restored = await members.restore(follower);
  expect(restored.version).toBeGreaterThan(removed.kind === 'changed' ? removed.version : 0n);
  expect(await ids()).toEqual([1, 2, 3]);
  expect(await ensemble.waitForLeader()).toBe(leader);
});

test('the leader is taken out: another leads, and it comes back as a follower', async () => {
  const leader = await ensemble.waitForLeader();
  const before = await version();
  expect((await remove(leader)).kind).toBe('changed');
  const next = await ensemble.waitForLeader({ not: leader });
  expect(await ids()).toEqual([1, 2, 3].filter((id) => id !== leader.id));
  await members.restore(leader);
  expect(await version()).toBeGreaterThan(before);
  await ensemble.waitForQuorum();
  expect(await ensemble.leader()).toBe(next);
  expect(await members.missing()).toEqual([]);
});

test('a server that was killed while it was out starts again, and is put back', async () => {
  const [follower] = await ensemble.followers();
  if (follower === undefined) throw new Error('no follower');
  expect((await remove(follower)).kind).toBe('changed');
  await follower.restart();
  await members.restore(follower);
  await waitFor(async () => (await follower.mode()) === 'follower', { what: 'a follower' });
  // Once more, now that all of them have the list with it.
  await follower.restart();
});

test('a change that would leave no quorum is refused, and told as refused', async () => {
  const [one, other] = await ensemble.followers();
  if (one === undefined || other === undefined) throw new Error('no followers');
  const before = await version();
  await one.kill();
  expect(await remove(other)).toEqual({ kind: 'refused', code: -13 });
  expect(await version()).toBe(before);
});

test('nobody leads: no answer, and it is put back once somebody does', async () => {
  const [one, other, third] = ensemble.servers;
  if (one === undefined || other === undefined || third === undefined) throw new Error('three servers');
  await Promise.all([one.kill(), other.kill()]);
  await waitFor(async () => (await third.mode()) === 'looking', { what: 'no quorum' });
  expect(await members.remove(third)).toEqual({ kind: 'unanswered' });
  expect(await members.missing()).toHaveLength(3);
  const restored = members.restore(third);
  await Promise.all([one.start(), other.start()]);
  expect((await restored).ids.toSorted()).toEqual([1, 2, 3]);
});

test('the quorum of a run is counted among those who belong to the ensemble by then', async () => {
  const hands = await Hands.open({ servers: ensemble.connectString, sessionTimeoutMs: 6_000 });
  const happenings: Happening[] = [];
  const given = ensemble.servers.map(({ host, clientPort }) => ({ host, port: clientPort }));
  const watch = await watchQuorum(given, hands, happenings);
  if (watch === null) throw new Error('no quorum to begin with');
  const quorum = (): boolean => happenings.reduce((ok, each) => (each.type === 'quorum' ? each.ok : ok), true);
  try {
    const followers = await ensemble.followers();
    for (const server of followers) expect((await remove(server)).kind).toBe('changed');
    // One alone is a majority of one, and is nothing of three.
    await Promise.all(followers.map((server) => server.kill()));
    await sleep(2_000);
    expect(quorum()).toBe(true);
    expect(await ids()).toHaveLength(1);
    for (const server of followers) {
      await server.start();
      await members.restore(server);
    }
    await ensemble.waitForQuorum();
    // And now it is nothing of three again.
    await Promise.all(followers.map((server) => server.kill()));
    await waitFor(() => !quorum(), { what: 'the news that there is no quorum' });
  } finally {
    await watch.stop();
    await hands.close();
  }
});
