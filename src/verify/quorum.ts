import type { Session } from '../election/port.js';
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
 * Notes whether there is a quorum, of those who belong to the ensemble by then, for as long as a run goes on. Null where that can't be told from
 * here: there is one now, and a probe that doesn't find it would excuse everything.
 */
export async function watchQuorum(
  given: readonly ServerAddress[],
  hands: Hands,
  happenings: Happening[],
): Promise<{ stop(): Promise<void> } | null> {
  const reader = new Reader(hands);
  const config = await reader.read(CONFIG_PATH).catch(() => null);
  const told = parseMembership(new TextDecoder().decode(config ?? undefined), given);
  const voters = told?.filter(({ voter }) => voter) ?? given.map((address) => ({ address, voter: true }));
  if (!judge(await probeServers(voters, TIMEOUT_MS)).quorumOk) {
    await reader.close();
    return null;
  }
  let last = true;
  const watch = new EnsembleWatch({
    servers: voters.map(({ address }) => address),
    readConfig: (path) => reader.read(path),
    intervalMs: EVERY_MS,
    timeoutMs: TIMEOUT_MS,
    onHealth: ({ quorumOk }) => {
      if (quorumOk === last) return;
      last = quorumOk;
      happenings.push({ type: 'quorum', ok: quorumOk, at: monotonicMs() });
    },
  });
  return {
    stop: () => {
      watch.stop();
      return reader.close();
    },
  };
}

/** Reads znodes in one session, and in a new one when that is over. */
class Reader {
  readonly #hands: Hands;
  #session: Session | null = null;
  #closed = false;

  constructor(hands: Hands) {
    this.#hands = hands;
  }

  async read(path: string): Promise<Uint8Array | null> {
    if (this.#session === null || this.#session.state === 'expired') {
      this.#session = await this.#hands.session();
      if (this.#closed) await this.#session.close();
    }
    return (await this.#session.read(path))?.data ?? null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#session?.close();
  }
}
