import { createWorld } from '../simulation/index.js';
import type { ConformanceWorld, Party, PartyOptions } from './world.js';

/** The suite's world in virtual time. */
export async function simulatedWorld(seed: number): Promise<ConformanceWorld> {
  const tickMs = 500;
  const world = createWorld({ seed, tickMs });
  let parties = 0;
  return {
    tickMs,
    drive: (body) => world.drive(body),
    sleep: (ms) => world.sleep(ms),
    party: async ({ sessionTimeoutMs = 6_000, connectTimeoutMs = 15_000 }: PartyOptions): Promise<Party> => {
      parties++;
      const name = `party-${parties}`;
      const client = world.process({ name, sessionTimeoutMs, connectTimeoutMs, transactions: true });
      return {
        driver: client.driver,
        cut: async () => world.cutClient(client),
        deafen: async () => {
          for (const server of world.servers) world.cutOneWay(server, client);
        },
        heal: async () => world.healClient(client),
        drop: async () => client.dropConnection(),
        loseNextReply: async () => client.loseNextReply(),
      };
    },
    closeSession: async (session) => {
      await world.operator.closeSession(session.id);
    },
    close: async () => {},
  };
}
