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

describe('a hold', () => {
  it('that comes while there is no session keeps a candidate from joining with the next one', async () => {
    const world = createWorld({ seed: 3 });
    const fleet = new Fleet(world, { election: ELECTION, sessionTimeoutMs: 4_000 });
    fleet.start(1);
    await world.run({ untilMs: world.now + 10_000 });
    const [worker] = fleet.workers;
    if (worker === undefined) throw new Error('one was started');
    const { client, tenure } = worker;
    const wait = (ms: number) => world.run({ untilMs: world.now + ms });
    const queue = () => world.childrenOf(`/tenure/${ELECTION}/queue`);
    expect(queue()).toHaveLength(1);
    await world.drive(() => world.operator.closeSession(tenure.session?.id ?? ''));
    while (tenure.session !== null) await wait(0.5);
    world.cutClient(client);
    await wait(5_000);
    expect(tenure.session).toBeNull();
    const release = tenure.hold({ reason: 'a new disk' });
    world.healClient(client);
    for (let i = 0; i < 600; i++) {
      await wait(100);
      expect(queue()).toEqual([]);
    }
    expect(tenure.session).not.toBeNull();
    release();
    await wait(5_000);
    expect(queue()).toHaveLength(1);
    expect(fleet.failures).toEqual([]);
  });
});

describe('a transfer to nobody', () => {
  it('is struck out by the leader, whatever becomes of its connection meanwhile', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const world = createWorld({ seed });
      const fleet = new Fleet(world, { election: ELECTION, sessionTimeoutMs: 4_000 });
      fleet.start(1);
      await world.run({ untilMs: world.now + 10_000 });
      const path = `/tenure/${ELECTION}/term`;
      const record = () => JSON.parse(Buffer.from(world.inspect(path)?.data ?? []).toString());
      const { term } = record();
      const at = new Date(0).toISOString();
      const transfer = { to: '_c_x-lock-0000000009', at, deadline: at, ...BY };
      world.schedule(world.random.fraction() * 12, () => fleet.workers[0]?.client.dropConnection());
      await world.drive(() => world.operator.write(path, Buffer.from(JSON.stringify({ ...record(), transfer }))));
      await world.run({ untilMs: world.now + 10_000 });
      expect(record(), `seed ${seed}`).toMatchObject({ term, transfer: null });
    }
  }, 60_000);
});

describe('a term record that is deleted by hand', () => {
  it('costs the leader its term, and its successor leads once that lease is over', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const world = createWorld({ seed });
      const fleet = new Fleet(world, { election: ELECTION, sessionTimeoutMs: 4_000 });
      for (let i = 0; i < 3; i++) fleet.start(1);
      await world.run({ untilMs: world.now + 10_000 });
      const before = fleet.acts.at(-1);
      await world.drive(() => world.operator.remove(`/tenure/${ELECTION}/term`));
      const at = world.now;
      await world.run({ untilMs: at + 10_000 });
      const next = fleet.acts.find(({ token }) => token !== before?.token);
      expect(next, `seed ${seed}`).toBeDefined();
      expect(next?.token).toBeGreaterThan(before?.token ?? 0n);
      expect((next?.at ?? 0) - at).toBeLessThan(4_000);
      expect(fleet.failures).toEqual([]);
    }
  }, 60_000);
});
