import { describe, expect, it } from 'vitest';
import type { ControlChange } from '../../src/election/history.js';
import { Fleet } from './fleet.js';
import { createWorld } from './world.js';

const ELECTION = 'settlement';
const BY = { by: 'operator', reason: 'by the seed' };

describe('orders whose replies are lost', () => {
  it.each(Array.from({ length: 40 }, (_, i) => i + 1))(
    'seed %i: each is made once, and the history tells each once, in order',
    async (seed) => {
      const world = createWorld({ seed, historyLimit: 300 });
      const fleet = new Fleet(world, { election: ELECTION, sessionTimeoutMs: 4_000 });
      fleet.start(1);
      fleet.start(1);
      await world.run({ untilMs: world.now + 10_000 });
      const changes: ControlChange['change'][] = [];
      const made = async (change: ControlChange['change'], act: Parameters<Fleet['order']>[1]) => {
        const client = world.clients.find(({ name }) => name === 'operator');
        const luck = world.random.fraction();
        const inMs = world.random.fraction() * 12;
        if (luck < 0.4) client?.loseNextReply();
        else if (luck < 0.8) world.schedule(inMs, () => client?.dropConnection());
        const before = fleet.orders.get(change) ?? 0;
        await world.drive(() => fleet.order(change, act));
        // None was refused: as ALREADY_PAUSED, say, by its own first attempt.
        expect(fleet.orders.get(change), `${change} number ${before + 1}`).toBe(before + 1);
        changes.push(change);
      };
      for (let round = 0; round < 6; round++) {
        await made('pause', (election) => election.pause(BY));
        await made('resume', (election) => election.resume(BY));
        await made('raise_floor', async (election) => {
          const floor = await election.floor();
          await election.raiseFloor({ ...BY, to: floor + 10n });
        });
      }
      const told: ControlChange['change'][] = [];
      const reading = fleet.order('read', async (election) => {
        for (const entry of await election.history()) if (entry.kind === 'control') told.push(entry.change);
      });
      await world.drive(() => reading);
      expect(fleet.failures).toEqual([]);
      expect(told).toEqual(changes);
    },
    30_000,
  );
});
