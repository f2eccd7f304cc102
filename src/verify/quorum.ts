import { judge, probeServers } from '../zookeeper/ensemble.js';
import { EnsembleWatch } from '../zookeeper/ensemble-watch.js';
import { CONFIG_PATH, parseMembership } from '../zookeeper/membership.js';
import type { ServerAddress } from '../zookeeper/servers.js';
import type { Hands } from './hands.js';
import type { Happening } from './history.js';
import { monotonicMs } from './monotonic.js';

const EVERY_MS = 200;
const TIMEOUT_MS = 1_000;

/**
 * Notes whether there is a quorum, for as long as a run goes on. Null where that can't be told from here: there is one now, and a probe that doesn't
 * find it would excuse everything.
 */
export async function watchQuorum(
  given: readonly ServerAddress[],
  hands: Hands,
  happenings: Happening[],
): Promise<{ stop(): void } | null> {
  const config = await hands.byHand((session) => session.read(CONFIG_PATH)).catch(() => null);
  const told = parseMembership(new TextDecoder().decode(config?.data), given);
  const voters = told?.filter(({ voter }) => voter) ?? given.map((address) => ({ address, voter: true }));
  if (!judge(await probeServers(voters, TIMEOUT_MS)).quorumOk) return null;
  let last = true;
  return new EnsembleWatch({
    servers: voters.map(({ address }) => address),
    intervalMs: EVERY_MS,
    timeoutMs: TIMEOUT_MS,
    onHealth: ({ quorumOk }) => {
      if (quorumOk === last) return;
      last = quorumOk;
      happenings.push({ type: 'quorum', ok: quorumOk, at: monotonicMs() });
    },
  });
}
