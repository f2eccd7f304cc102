import { startEnsemble, waitFor } from '../../deploy/local/index.js';
import type { Driver } from '../../src/election/port.js';
import type { ServerAddress } from '../../src/zookeeper/servers.js';
import { closeAsOtherHolder } from './other-holder.js';
import { Proxies } from './proxies.js';
import type { ConformanceWorld, Party, PartyOptions } from './world.js';

export type MakeDriver = (options: {
  readonly servers: readonly ServerAddress[];
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
}) => Promise<Driver>;

const TICK_MS = 500;

/** The suite's world on real servers, three of them by default; each client reaches them by proxies of its own. */
export async function realWorld(
  makeDriver: MakeDriver,
  { size = 3, ...versioned }: { readonly size?: 1 | 3; readonly version?: string } = {},
): Promise<ConformanceWorld> {
  const ensemble = await startEnsemble({ size, ...versioned, tickTime: TICK_MS, fsync: false });
  const targets = ensemble.servers.map(({ host, clientPort }) => ({ host, port: clientPort }));
  const proxies = new Proxies();
  let parties = 0;

  const party = async ({ sessionTimeoutMs = 6_000, connectTimeoutMs = 15_000 }: PartyOptions): Promise<Party> => {
    const me = parties++;
    const ports = await proxies.order(me, { act: 'start', targets });
    const servers = ports.map((port) => ({ host: '127.0.0.1', port }));
    const order = async (act: Parameters<Proxies['order']>[1]) => {
      await proxies.order(me, act);
    };
    return {
      driver: await makeDriver({ servers, sessionTimeoutMs, connectTimeoutMs }),
      cut: () => order({ act: 'hold', what: 'all' }),
      deafen: () => order({ act: 'hold', what: 'replies' }),
      heal: () => order({ act: 'hold', what: 'nothing' }),
      drop: () => order({ act: 'drop' }),
      loseNextReply: () => order({ act: 'loseNextReply' }),
    };
  };

  return {
    tickMs: TICK_MS,
    drive: (body) => body(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    party,
    closeSession: async (session) => {
      const [server] = ensemble.servers;
      if (server === undefined) return;
      // Thrown off before the close is through, its client takes the session back, which voids the close: then once more.
      for (let attempt = 0; attempt < 5 && session.state !== 'expired'; attempt += 1) {
        await closeAsOtherHolder(server.host, server.clientPort, session.id);
        await waitFor(() => session.state === 'expired', { what: 'the end', timeoutMs: 3_000 }).catch(() => {});
      }
    },
    close: async () => {
      await proxies.close();
      await ensemble.close();
    },
  };
}
