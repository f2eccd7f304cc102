import { decodeRecord, encodeRecord } from '../../src/election/record.js';
import type { SimulatedClient } from './client.js';
import type { Fleet } from './fleet.js';
import type { World } from './world.js';

/** What can be done to a fleet. Each undoes itself after a while, but for what can't be undone. */
type Fault = (around: Around) => void;

interface Around {
  readonly world: World;
  readonly fleet: Fleet;
  readonly election: string;
  pick<T>(from: readonly T[]): T | undefined;
  /** Somewhere between two bounds. */
  between(low: number, high: number): number;
  victim(): SimulatedClient | undefined;
  /** Who acted last, if it can. */
  leader(): SimulatedClient | undefined;
}

const T = 4_000;

const FAULTS: Readonly<Record<string, Fault>> = {
  freeze: ({ world, victim, between }) => pause(world, victim(), between(50, 3 * T), 'freeze'),
  suspend: ({ world, victim, between }) => pause(world, victim(), between(50, 3 * T), 'suspend'),
  kill: ({ world, fleet, victim, between }) => {
    victim()?.kill();
    world.schedule(between(10, T), () => fleet.start(1 + (world.random.fraction() - 0.5) * 0.048));
  },
  drop_connection: ({ victim }) => victim()?.dropConnection(),
  lose_reply: ({ victim }) => victim()?.loseNextReply(),
  jump_wall: ({ victim, between }) => victim()?.jumpWall(between(-100_000, 100_000)),
  cut_client: ({ world, victim, between }) => {
    const client = victim();
    if (client === undefined) return;
    world.cutClient(client);
    world.schedule(between(50, 3 * T), () => world.healClient(client));
  },
  mute_client: ({ world, victim, between }) => {
    const client = victim();
    const server = client?.server;
    if (client === undefined || server == null) return;
    world.cutOneWay(server, client);
    world.schedule(between(50, 2 * T), () => world.heal(server, client));
  },
  cut_server: ({ world, pick, between }) => {
    const server = pick(world.servers);
    if (server === undefined) return;
    world.cutServer(server);
    world.schedule(between(50, 4 * T), () => world.healServer(server));
  },
  cut_off_with_client: ({ world, victim, between }) => {
    const client = victim();
    const server = client?.server;
    if (client === undefined || server == null) return;
    for (const other of world.servers) if (other !== server) world.cut(client, other);
    world.cutServer(server);
    world.schedule(between(T, 4 * T), () => {
      world.healServer(server);
      world.healClient(client);
    });
  },
  crash_server: ({ world, pick, between }) => {
    const server = pick(world.servers.filter((each) => each.serving));
    if (server === undefined) return;
    server.crash();
    world.schedule(between(50, 2 * T), () => server.restart());
  },
  change_leader: ({ world }) => world.changeLeader(),
  delete_candidate: ({ world, election, pick }) => {
    const node = pick(world.childrenOf(`/tenure/${election}/queue`));
    if (node !== undefined) void world.operator.remove(`/tenure/${election}/queue/${node}`);
  },
  delete_session_node: ({ world, pick }) => {
    const node = pick(world.childrenOf('/tenure/sessions'));
    if (node !== undefined) void world.operator.remove(`/tenure/sessions/${node}`);
  },
  take_session: ({ world, victim }) => {
    const session = victim()?.driver.sessions[0];
    if (session !== undefined) void world.operator.closeSession(session.id);
  },
};

/** What it takes several things at once for: each is aimed at the leader. */
const PLOTS: Readonly<Record<string, Fault>> = {
  /**
   * Its replies come late; then nothing of it arrives any more, while the last of its renewals are still to be confirmed; and
   * once they are, nothing reaches it, not even that its node is deleted.
   */
  late_replies: (around) => {
    const { world, leader, between } = around;
    const client = leader();
    if (client === undefined) return;
    // Half a lease after it was renewed it is in doubt anyway; and after ⅔ T of silence it gives its server up.
    const byMs = between(0.4 * T, 0.62 * T);
    for (const server of world.servers) world.slow(server, client, byMs);
    world.schedule(between(byMs, T), () => {
      for (const server of world.servers) world.cutOneWay(client, server);
      world.schedule(between(5, T / 4), () => deleteLeader(around));
      world.schedule(byMs + 5, () => world.cutClient(client));
      world.schedule(between(T, 1.5 * T), () => world.healClient(client));
    });
  },
  /**
   * Away while its node is deleted, and back just in time; then it hears the answer to its handshake, or its first renewal
   * confirmed, and nothing that comes behind.
   */
  deaf_again: (around) => {
    const { world, fleet, leader, between } = around;
    const client = leader();
    const session = client?.driver.sessions[0];
    if (client === undefined || session === undefined) return;
    const deafen = () => {
      for (const server of world.servers) world.cutOneWay(server, client);
    };
    world.cutClient(client);
    client.dropConnection();
    world.schedule(between(0, 300), () => deleteLeader(around));
    world.schedule(between(400, 0.6 * T), () => {
      world.healClient(client);
      const atRenewal = between(0, 1) < 0.7;
      const stops = [
        session.onState((state) => {
          if (state === 'connected' && !atRenewal) deafen();
        }),
        fleet.once(client, 'renewal_confirmed', () => {
          if (atRenewal) deafen();
        }),
      ];
      world.schedule(between(T, 1.5 * T), () => {
        for (const stop of stops) stop();
        world.healClient(client);
      });
    });
  },
  /** While nobody is connected, the leader's node is deleted and made again under the same name, as by restoring a copy. */
  recreate_leader: (around) => {
    const { world, fleet, between } = around;
    const clients = fleet.alive.map(({ client }) => client);
    const path = leadersPath(around);
    const node = path === null ? null : world.inspect(path);
    if (path === null || node === null) return;
    for (const client of clients) {
      world.cutClient(client);
      client.dropConnection();
    }
    // It belongs to no session that could die: what nobody has taken away by then would stand for ever.
    const removeOwnerless = () => {
      if (world.inspect(path)?.stat.owner === null) void world.operator.remove(path);
    };
    void world.operator
      .remove(path)
      .then(() => world.operator.create(path, node.data))
      .then(() => world.schedule(2 * T, removeOwnerless));
    world.schedule(between(200, T / 4), () => {
      for (const client of clients) world.healClient(client);
    });
  },
  /** An operator's program marks the term as ended, and dies before it has deleted the node. */
  half_an_eviction: ({ world, election }) => {
    const path = recordOf(election);
    const found = world.inspect(path);
    if (found === null) return;
    const record = decodeRecord(found.data, path);
    const { latest } = record;
    if (latest === null || latest.ended !== null) return;
    const ended = { at: new Date(found.stat.mtime).toISOString(), how: 'evicted' as const };
    void world.operator.write(path, encodeRecord({ ...record, latest: { ...latest, ended } }), found.stat.version);
  },
};

function recordOf(election: string): string {
  return `/tenure/${election}/term`;
}

/** The path of the node that the record names. */
function leadersPath({ world, election }: Around): string | null {
  const found = world.inspect(recordOf(election));
  const latest = found === null ? null : decodeRecord(found.data, recordOf(election)).latest;
  return latest === null ? null : `/tenure/${election}/queue/${latest.node}`;
}

function deleteLeader(around: Around): void {
  const path = leadersPath(around);
  if (path !== null) void around.world.operator.remove(path);
}

const BY = { by: 'operator', reason: 'by the seed' };

/** What operators do; also what they do at the worst of times. */
const ORDERS: Readonly<Record<string, Fault>> = {
  pause: ({ world, fleet, between }) => {
    void fleet.order('pause', (election) => election.pause(BY));
    world.schedule(between(5, 2 * T), () => void fleet.order('resume', (election) => election.resume(BY)));
  },
  transfer: ({ fleet, pick, between }) => {
    const deadlineMs = between(1, 3 * T);
    void fleet.order('transfer', async (election) => {
      const { candidates } = await election.current();
      const to = pick(candidates)?.node;
      if (to !== undefined) await election.transfer({ ...BY, to, deadlineMs });
    });
  },
  evict: ({ fleet, between }) => {
    const chance = between(0, 1);
    void fleet.order('evict', async (election) => {
      const { candidates } = await election.current();
      // Half of the time the one that matters.
      const node = candidates[chance < 0.5 ? 0 : Math.floor(chance * candidates.length)]?.node;
      if (node !== undefined) await election.evict({ ...BY, node });
    });
  },
  raise_floor: ({ fleet, between }) => {
    const by = BigInt(Math.floor(between(-20, 60)));
    void fleet.order('raise_floor', async (election) => {
      const { token } = await election.current();
      const to = (token ?? 0n) + by;
      if (to > 0n) await election.raiseFloor({ ...BY, to });
    });
  },
  hold: ({ world, fleet, pick, between }) => {
    const worker = pick(fleet.alive);
    if (worker === undefined) return;
    const release = worker.tenure.hold({ reason: BY.reason });
    world.schedule(between(5, 2 * T), release);
  },
};

/**
 * Does something every now and then, by the world's seed, until `untilMs`; then everything heals. With `operators` a third
 * of it is what operators do.
 */
export async function torment(
  world: World,
  fleet: Fleet,
  election: string,
  untilMs: number,
  { operators = false } = {},
): Promise<void> {
  const { random } = world;
  const between = (low: number, high: number) => low + random.fraction() * (high - low);
  const pick = <V>(from: readonly V[]) => from[Math.floor(random.fraction() * from.length)];
  // Half of the time the one that matters: the present leader.
  const able = () => fleet.alive.filter(({ client }) => !client.frozen).map(({ client }) => client);
  const leader = () => able().find(({ name }) => name === fleet.acts.at(-1)?.who);
  const victim = () => (random.fraction() < 0.5 ? (leader() ?? pick(able())) : pick(able()));
  while (world.now < untilMs) {
    await world.run({ untilMs: world.now + between(20, T) });
    const kind = operators && random.fraction() < 1 / 3 ? ORDERS : random.fraction() < 1 / 6 ? PLOTS : FAULTS;
    const name = pick(Object.keys(kind)) ?? 'freeze';
    world.record('nemesis', name);
    kind[name]?.({ world, fleet, election, pick, between, victim, leader });
  }
  // Longer than any fault lasts.
  await world.run({ untilMs: world.now + 5 * T });
  world.healAll();
  // A pause outlasts everything, its operator's session too.
  if (operators) await world.drive(() => fleet.order('resume', (subject) => subject.resume(BY)));
}

function pause(world: World, client: SimulatedClient | undefined, ms: number, how: 'freeze' | 'suspend'): void {
  if (client === undefined) return;
  client[how]();
  world.schedule(ms, () => {
    if (!client.dead) client.thaw();
  });
}
