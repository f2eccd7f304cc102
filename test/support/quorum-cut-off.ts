import { execFileSync } from 'node:child_process';
import { startEnsemble, waitFor } from '../../deploy/local/index.js';
import { monotonicMs, sleep } from '../../src/verify/monotonic.js';
import { judge, probeServers } from '../../src/zookeeper/ensemble.js';
import { EnsembleWatch } from '../../src/zookeeper/ensemble-watch.js';
import { layWire, run } from './wire.js';

/*
 * The ensemble's leader behind a wire that is cut, seen from its own side, where nobody else answers, and from the other,
 * where a new leader is elected. To be run in a network namespace of its own. Writes what came of it as one line of JSON.
 */
const inside = { address: '10.21.0.2', wire: '10.21.1.2' };
const outside = { address: '10.21.0.1', wire: '10.21.1.1' };

const { prefix, close } = await layWire(outside, inside);

const ensemble = await startEnsemble({
  bindHosts: [outside.address, outside.address, inside.address],
  commandPrefix: (server) => (server === 2 ? prefix : []),
  fsync: false,
});
const cut = ensemble.servers[2];
const leader = await ensemble.elect((server) => server === cut);
const address = (server: { host: string; clientPort: number }) => ({ host: server.host, port: server.clientPort });
const servers = ensemble.servers.map(address);

/** Asked from within the inner namespace, by a process there: one answer for each server. */
function seenInside(): { ok: boolean; healthy: number; state?: string; synced?: string } {
  const script = new URL('./quorum-probe.ts', import.meta.url).pathname;
  const words = [...prefix, process.execPath, '--import', 'tsx', script, JSON.stringify(servers)];
  const [command = '', ...args] = words;
  return JSON.parse(execFileSync(command, args, { encoding: 'utf8', timeout: 20_000 }));
}

const members = servers.map((each) => ({ address: each, voter: true }));
const before = { outside: judge(await probeServers(members, 1_000)).quorumOk, inside: seenInside().ok };
const states: { at: number; ok: boolean; leader: string | null; healthy: number }[] = [];
const watch = new EnsembleWatch({
  servers,
  intervalMs: 100,
  timeoutMs: 300,
  onHealth: ({ quorumOk, leader, healthyVoters }) => {
    const last = states.at(-1);
    if (last?.ok === quorumOk && last.leader === leader) return;
    states.push({ at: Math.round(monotonicMs() - cutAt), ok: quorumOk, leader, healthy: healthyVoters });
  },
});
let cutAt = monotonicMs();
await waitFor(() => states.length > 0, { what: 'the first probe' });
cutAt = monotonicMs();
run('ip link set outer down');
// Well within its syncLimit: it still calls itself leader, with two followers in step.
const within = seenInside();
const withinMs = Math.round(monotonicMs() - cutAt);
const others = ensemble.servers.filter((server) => server !== cut).map((server) => server.address);
await waitFor(() => others.includes(states.at(-1)?.leader ?? '') && states.at(-1)?.ok === true, {
  what: 'a quorum without the one that is cut off',
  timeoutMs: 40_000,
});
await sleep(300);
watch.stop();
await ensemble.close();
close();
process.stdout.write(
  `${JSON.stringify({ cutLed: leader === cut, cut: cut?.address, before, within, withinMs, states })}\n`,
);
process.exit();
