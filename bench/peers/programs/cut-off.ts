import { startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { layWire, run } from '../../../test/support/wire.js';
import { type ContenderName, contenders } from '../contenders.js';
import { EtcdCluster } from '../etcd.js';
import { Player } from '../player.js';

/*
 * One server of each ensemble, and a leader of each contender with it, behind a wire that is cut; the successors are outside. To be
 * run in a network namespace of its own. Writes what came of it as one line of JSON.
 *
 * cut-off.ts leads|follows SESSION_TIMEOUT_MS TICK_TIME_MS CONTENDER,…
 */
const [role = '', timeout = '', tick = '', names = ''] = process.argv.slice(2);
const timeoutMs = Number(timeout);
const inside = { address: '10.22.0.2', wire: '10.22.1.2' };
const outside = { address: '10.22.0.1', wire: '10.22.1.1' };
/** Server 3 leads when all start together. */
const cut = role === 'leads' ? 2 : 0;
/** How long after the cut an old leader may believe in itself. */
const LIMIT_MS = 60_000;

const { prefix, close } = await layWire(outside, inside);
const hosts = [0, 1, 2].map((index) => (index === cut ? inside.address : outside.address));
const commandPrefix = (index: number): readonly string[] => (index === cut ? prefix : []);
const [ensemble, etcd, all] = await Promise.all([
  startEnsemble({ bindHosts: hosts, commandPrefix, tickTime: Number(tick) }),
  EtcdCluster.start({ hosts, commandPrefix }),
  contenders(),
]);
// For etcd's HTTP gateway, one outside is asked.
await etcd.lead(role === 'leads' ? cut : 2);
const isCut = (server: ZooKeeperServer): boolean => server === ensemble.servers[cut];
const serverLeads = isCut(await ensemble.elect((leader) => isCut(leader) === (role === 'leads')));
const addresses = {
  zookeeper: ensemble.servers.map(({ address }) => address),
  etcd: etcd.addresses,
};

interface Contest {
  readonly name: ContenderName;
  readonly inner: Player;
  readonly outer: Player;
}

const contests: Contest[] = [];
for (const contender of all.filter(({ name }) => names.split(',').includes(name))) {
  const known = addresses[contender.coordinator];
  const stand = { election: `${contender.name}-cut-off`, timeoutMs };
  const here = { ...stand, servers: known[cut] ?? '' };
  const there = { ...stand, servers: known.filter((_, index) => index !== cut).join(',') };
  const [inner, outer] = await Promise.all([
    Player.start(contender.candidate(here, 'inside'), prefix),
    Player.start(contender.candidate(there, 'outside')),
  ]);
  inner.join();
  await waitFor(() => inner.leads, { what: `the inner one of ${contender.label} to lead`, timeoutMs: 60_000 });
  outer.join();
  contests.push({ name: contender.name, inner, outer });
}
// For the successors to stand, to watch, and to have seen signs of life.
await sleep(3_000);

const cutAt = monotonicMs();
run('ip link set outer down');
const outcomes = await Promise.all(
  contests.map(async ({ name, inner, outer }) => {
    const lost = inner.hears(({ event }) => event === 'lost', { what: `${name} to be told`, timeoutMs: LIMIT_MS });
    const led = outer.hears(({ event }) => event === 'led', {
      what: `${name}'s successor to lead`,
      timeoutMs: LIMIT_MS,
    });
    const [told, next] = await Promise.all([lost.catch(() => null), led.catch(() => null)]);
    return {
      name,
      /** Milliseconds from the cut; null where it didn't happen within the limit. */
      lost: told === null ? null : told.at - cutAt,
      led: next === null ? null : next.at - cutAt,
    };
  }),
);
await Promise.all(contests.flatMap(({ inner, outer }) => [inner.kill(), outer.kill()]));
await Promise.all([ensemble.close(), etcd.close()]);
close();
process.stdout.write(`${JSON.stringify({ serverLeads, limitMs: LIMIT_MS, outcomes })}\n`);
process.exit();
