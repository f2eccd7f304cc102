import { judge, probeServers } from '../../src/zookeeper/ensemble.js';
import { ask } from '../../src/zookeeper/four-letter-words.js';
import type { ServerAddress } from '../../src/zookeeper/servers.js';

/** Probes the servers in its argument once, and writes what it found as JSON: the last one's own word, and the judgement. */
const servers = JSON.parse(process.argv[2] ?? '[]') as ServerAddress[];
const last = servers.at(-1) as ServerAddress;
const mntr = await ask(last, 'mntr', 2_000).catch((error: Error) => error.message);
const { quorumOk, healthyVoters } = judge(
  await probeServers(
    servers.map((address) => ({ address, voter: true })),
    1_000,
  ),
);
const state = /^zk_server_state\t(\w+)/m.exec(mntr)?.[1];
const synced = /^zk_synced_followers\t(\d+)/m.exec(mntr)?.[1];
process.stdout.write(JSON.stringify({ ok: quorumOk, healthy: healthyVoters, state, synced }));
