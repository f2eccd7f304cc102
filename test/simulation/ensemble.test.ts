import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/election/port.js';
import { ConnectTimeoutError, CoordinatorError } from '../../src/errors.js';
import { createWorld, type Server, type SimulatedClient, type World } from './index.js';

const NOTHING = new Uint8Array();

/** For what depends on who is chosen, and on what arrives in time. */
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);

/** Writes to one node, and every now and then an ephemeral one, for ever; opens a new session after each that has ended. */
async function worker(world: World, client: SimulatedClient): Promise<void> {
  for (;;) {
    try {
      const session = await client.driver.open();
      await ordinaryWork(world, client, session);
    } catch (error) {
      if (!(error instanceof ConnectTimeoutError)) throw error;
    }
  }
}

async function ordinaryWork(world: World, client: SimulatedClient, session: Session): Promise<void> {
  let newest = 0n;
  while (session.state === 'connected' || session.state === 'disconnected') {
    await new Promise<void>((resolve) => client.clock.after(20 + client.random() * 200, resolve));
    try {
      const stat = await session.write('/n', Buffer.from(client.name), -1);
      expect(stat.mzxid, 'writes of one session are ordered').toBeGreaterThan(newest);
      newest = stat.mzxid;
      const seen = await session.read('/n');
      expect(seen?.stat.mzxid, 'a session reads its own writes').toBeGreaterThanOrEqual(newest);
      if (client.random() < 0.1) await session.create('/n/c-', NOTHING, 'ephemeral_sequential');
      world.record(client.name, 'wrote', stat.version);
    } catch (error) {
      if (!(error instanceof CoordinatorError)) throw error;
      world.record(client.name, 'refused', error.kind);
    }
  }
}

/** A random fault now, and its end after a while. */
function harm(world: World): void {
  const { random } = world;
  const client = random.pick(world.clients);
  const server = random.pick(world.servers);
  const lasting = random.between(100, 20_000);
  const faults: (() => void)[] = [
    () => client.dropConnection(),
    () => client.loseNextReply(),
    () => client.jumpWall(random.between(-1e7, 1e7)),
    () => world.changeLeader(),
    () => void world.operator.remove(`/n/${random.pick([...world.childrenOf('/n'), 'x'])}`),
    () => {
      client.freeze();
      world.schedule(lasting, () => client.thaw());
    },
    () => {
      client.suspend();
      world.schedule(lasting, () => client.thaw());
    },
    () => {
      world.cutClient(client, server);
      world.schedule(lasting, () => world.healClient(client, server));
    },
    () => {
      world.cutOneWay(server, client);
      world.schedule(lasting, () => world.healClient(client, server));
    },
    () => {
      const other = random.pick(world.servers);
      world.cutOneWay(server, other);
      world.schedule(lasting, () => world.heal(server, other));
    },
    () => {
      world.cutServer(server);
      world.schedule(lasting, () => world.healServer(server));
    },
    () => {
      server.crash();
      world.schedule(lasting, () => server.restart());
    },
  ];
  random.pick(faults)();
}

async function storm(seed: number, steps: number): Promise<World> {
  const committed: bigint[] = [];
  const world = createWorld({ seed, onCommit: ({ zxid }) => committed.push(zxid) });
  void world.operator.create('/n', NOTHING);
  const failures: unknown[] = [];
  for (const [i, name] of ['a', 'b', 'c'].entries()) {
    worker(world, world.process({ name, rate: 0.97 + i * 0.03 })).catch((error) => failures.push(error));
  }
  while (world.steps < steps) {
    await world.run({ untilMs: world.now + world.random.between(100, 5_000) });
    harm(world);
  }
  // What was harmed heals by itself; then the servers must come to agree.
  await world.run({ untilMs: world.now + 25_000 });
  world.healAll();
  await world.run({ untilMs: world.now + 60_000 });
  expect(failures).toEqual([]);
  expect([...committed].sort((x, y) => (x < y ? -1 : 1))).toEqual(committed);
  return world;
}

/** A server that doesn't lead, and the other one. */
function followersOf(world: World): [Server, Server] {
  const [one, other] = world.random.shuffle(world.servers.filter((server) => server !== world.leader()));
  if (world.leader() === null || one === undefined || other === undefined) throw new Error('no quorum of three');
  return [one, other];
}

describe('the simulated ensemble', () => {
  test.each([1, 2, 3, 4, 5, 6])('keeps one history through a storm of faults (seed %i)', async (seed) => {
    const world = await storm(seed, 20_000);
    const [first, ...others] = world.servers;
    expect(first?.applied).toBeGreaterThan(100);
    for (const server of others) {
      const common = Math.min(server.applied, first?.applied ?? 0);
      expect(server.log.slice(0, common).map(({ zxid }) => zxid)).toEqual(
        first?.log.slice(0, common).map(({ zxid }) => zxid),
      );
      expect(Math.abs(server.applied - (first?.applied ?? 0))).toBeLessThan(50);
    }
    expect(world.leader()).not.toBeNull();
  });

  test('is the same for the same seed, and another for another', async () => {
    const [once, again, other] = await Promise.all([storm(11, 5_000), storm(11, 5_000), storm(12, 5_000)]);
    expect(again.history.toString()).toBe(once.history.toString());
    expect(other.history.toString()).not.toBe(once.history.toString());
  });

  test('a server that is cut off answers pings and reads, while the ensemble expires the session', async () => {
    const world = createWorld({ seed: 3 });
    await world.drive(async () => {
      await world.sleep(1_000);
      const [follower] = followersOf(world);
      const a = world.process({ name: 'a', sessionTimeoutMs: 4_000, servers: [follower] });
      const session = await a.driver.open();
      await session.create('/e', NOTHING, 'ephemeral');
      world.cutServer(follower);
      await world.sleep(9_000);
      expect(world.inspect('/e'), 'gone for the quorum').toBeNull();
      expect(session.state).toBe('connected');
      expect(await session.stat('/e'), 'there for who asks the server that is cut off').not.toBeNull();
      world.healServer(follower);
      await world.sleep(15_000);
      expect(session.state).toBe('expired');
    });
  });

  test('a leader that is cut off commits nothing, and answers a sync', async () => {
    const world = createWorld({ seed: 4 });
    await world.drive(async () => {
      await world.sleep(1_000);
      const leader = world.leader();
      if (leader === null) throw new Error('no leader');
      const a = world.process({ name: 'a', servers: [leader] });
      const session = await a.driver.open();
      await session.create('/e', NOTHING, 'persistent');
      world.cutServer(leader);
      await session.sync('/');
      const write = session.write('/e', NOTHING, -1).then(
        () => 'done',
        (error: CoordinatorError) => error.kind,
      );
      await world.sleep(3_000);
      expect(world.inspect('/e')?.stat.version).toBe(0);
      expect(['connection_lost', 'operation_timeout']).toContain(await write);
    });
  });

  test('a write that arrives by way of a server that its session has left is not applied', async () => {
    const world = createWorld({ seed: 8 });
    await world.drive(async () => {
      await world.sleep(1_000);
      const a = world.process({ name: 'a', servers: followersOf(world) });
      const session = await a.driver.open();
      const left = a.server;
      if (left === null) throw new Error('not attached');
      world.cutServer(left);
      const late = session.create('/late', NOTHING, 'persistent').catch(() => 'lost');
      await world.sleep(100);
      world.cutClient(a, left);
      a.dropConnection();
      expect(await late).toBe('lost');
      while (session.state !== 'connected') await world.sleep(100);
      await session.create('/early', NOTHING, 'persistent');
      expect(a.server).not.toBe(left);
      world.healServer(left);
      await world.sleep(5_000);
      expect([world.inspect('/early'), world.inspect('/late')]).toEqual([expect.anything(), null]);
    });
  });

  test('a write whose reply is lost has been applied', async () => {
    const world = createWorld({ seed: 5 });
    await world.drive(async () => {
      const a = world.process({ name: 'a' });
      const session = await a.driver.open();
      a.loseNextReply();
      await expect(session.create('/e', NOTHING, 'persistent')).rejects.toMatchObject({ kind: 'connection_lost' });
      await expect(session.create('/e', NOTHING, 'persistent')).rejects.toMatchObject({ kind: 'node_exists' });
    });
  });

  test('a new leader starts every session clock afresh', async () => {
    const world = createWorld({ seed: 6 });
    await world.drive(async () => {
      const a = world.process({ name: 'a', sessionTimeoutMs: 4_000 });
      const session = await a.driver.open();
      await session.create('/e', NOTHING, 'ephemeral');
      a.kill();
      for (let i = 0; i < 6; i++) {
        await world.sleep(2_500);
        world.changeLeader();
      }
      expect(world.inspect('/e')).not.toBeNull();
      await world.sleep(8_000);
      expect(world.inspect('/e')).toBeNull();
    });
  });

  test('a write on behalf of a session that has expired meanwhile is not applied', async () => {
    const world = createWorld({ seed: 9 });
    await world.drive(async () => {
      await world.sleep(1_000);
      const [follower] = followersOf(world);
      const a = world.process({ name: 'a', sessionTimeoutMs: 4_000, servers: [follower] });
      const session = await a.driver.open();
      await session.create('/e', NOTHING, 'ephemeral');
      world.cutServer(follower);
      while (world.inspect('/e') !== null) await world.sleep(100);
      const late = session.create('/late', NOTHING, 'persistent').catch((error: CoordinatorError) => error.kind);
      await world.sleep(100);
      world.healServer(follower);
      expect(await late).not.toBe('/late');
      await world.sleep(5_000);
      expect(world.inspect('/late')).toBeNull();
      expect(session.state).toBe('expired');
    });
  });

  test('a session is kept alive by pings alone, by way of a follower', async () => {
    const world = createWorld({ seed: 10 });
    await world.drive(async () => {
      await world.sleep(1_000);
      const a = world.process({ name: 'a', sessionTimeoutMs: 4_000, servers: [followersOf(world)[0]] });
      const session = await a.driver.open();
      await session.create('/e', NOTHING, 'ephemeral');
      await world.sleep(60_000);
      expect(world.inspect('/e')).not.toBeNull();
      expect(session.state).toBe('connected');
    });
  });

  test('a server that is behind what the client has seen refuses it', async () => {
    const world = createWorld({ seed: 11 });
    await world.drive(async () => {
      await world.sleep(1_000);
      const [behind, ahead] = followersOf(world);
      const a = world.process({ name: 'a', servers: [behind, ahead] });
      const session = await a.driver.open();
      world.cutServer(behind);
      world.cutClient(a, behind);
      if (a.server === behind) a.dropConnection();
      while (a.server !== ahead) await world.sleep(100);
      const { mzxid } = await session.write('/zookeeper', NOTHING, -1);
      world.healClient(a, behind);
      for (let i = 0; i < 3; i++) {
        a.dropConnection();
        await world.sleep(500);
        expect(a.server, 'refused by one at once, it has gone to the other').toBe(ahead);
      }
      expect((await session.stat('/zookeeper'))?.mzxid).toBe(mzxid);
    });
  });

  test.each(SEEDS)('a new leader has whatever was confirmed (seed %i)', async (seed) => {
    const world = createWorld({ seed });
    await world.drive(async () => {
      await world.sleep(1_000);
      const leader = world.leader();
      const [behind] = followersOf(world);
      world.cutServer(behind);
      const a = world.process({ name: 'a', servers: world.servers.filter((server) => server !== behind) });
      const session = await a.driver.open();
      await session.create('/confirmed', NOTHING, 'persistent');
      leader?.crash();
      world.healServer(behind);
      while (world.leader() === null) await world.sleep(50);
      expect(await session.stat('/confirmed').catch(() => session.stat('/confirmed'))).not.toBeNull();
    });
  });

  test.each(SEEDS)('what an overthrown leader proposed alone is dropped (seed %i)', async (seed) => {
    const world = createWorld({ seed });
    await world.drive(async () => {
      await world.sleep(1_000);
      const old = world.leader();
      if (old === null) throw new Error('no leader');
      const a = world.process({ name: 'a', servers: [old] });
      const session = await a.driver.open();
      world.cutServer(old);
      const alone = session.create('/alone', NOTHING, 'persistent').catch(() => 'lost');
      expect(await alone).toBe('lost');
      while (world.leader() === old || world.leader() === null) await world.sleep(100);
      // Now the old leader, whose log is longer, and one of the new epoch have to agree.
      world.leader()?.crash();
      world.healServer(old);
      while (world.leader() === null) await world.sleep(50);
      await world.sleep(1_000);
      expect(world.inspect('/alone')).toBeNull();
    });
  });
});
