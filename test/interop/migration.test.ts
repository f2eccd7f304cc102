import { expect, it } from 'vitest';
import { connect } from '../../src/index.js';
import type { MixedQueue } from './mixed-queue.js';
import type { Recipe } from './programs.js';
import { interop } from './scene.js';

/* A fleet that runs is joined by Tenure's candidates, and replaced one by one: the steps of docs/migration.md. */

const T = 4_000;

/** Everybody leads once, in the order of arrival, and gives up; a third of the fleet is killed instead. */
async function replaceOneByOne(queue: MixedQueue, old: Recipe, ours: Recipe): Promise<void> {
  const fleet = await Promise.all([old, old, old].map((recipe) => queue.start(recipe)));
  for (const candidate of fleet) await queue.join(candidate);
  let leader = await queue.leaderAfter(0n);
  for (const [index, outgoing] of fleet.entries()) {
    expect(leader.who).toBe(outgoing.id);
    // Its replacement stands in the queue before it goes: the number of candidates never falls.
    await queue.enter(ours);
    if (index === 1) await queue.kill(outgoing);
    else {
      outgoing.leave();
      await outgoing.end();
    }
    leader = await queue.leaderAfter(leader.token);
  }
}

interop('migration', (scene) => {
  it.concurrent.each<{ what: string; name: string; old: Recipe; ours: Recipe; nodePrefix: string }>([
    {
      what: "Curator's LeaderSelector",
      name: 'selectors',
      old: 'curator selector',
      ours: 'tenure lock-',
      nodePrefix: 'lock-',
    },
    {
      what: "Curator's LeaderLatch",
      name: 'latches',
      old: 'curator latch',
      ours: 'tenure latch-',
      nodePrefix: 'latch-',
    },
    {
      what: 'kazoo by its own node name',
      name: 'kazoos',
      old: 'kazoo default',
      ours: 'tenure __lock__',
      nodePrefix: '__lock__',
    },
    { what: 'go-zookeeper', name: 'gos', old: 'go lock', ours: 'tenure lock-', nodePrefix: 'lock-' },
  ])(
    '$what is joined and replaced while it runs, with one leader at any time',
    async ({ name, old, ours, nodePrefix }) => {
      await using queue = await scene().open({ name, root: '/app', sessionTimeoutMs: T });
      await replaceOneByOne(queue, old, ours);

      // Back and forth: one of the old fleet can still come again, and is waited for.
      const back = await queue.enter(old);
      const rest = (await queue.alive(4)).map(({ id }) => id);
      expect(rest.at(-1)).toBe(back.id);
      for (const [index, id] of rest.slice(0, -1).entries()) {
        const leader = queue.book.last;
        expect(leader?.who).toBe(id);
        queue.candidate(id).leave();
        const next = await queue.leaderAfter(leader?.token ?? 0n);
        expect(next.who).toBe(rest[index + 1]);
      }

      expect(queue.book.all).toHaveLength(7);
      expect(queue.book.overlaps).toEqual([]);
      expect(queue.book.disorders).toEqual([]);

      // Terms are numbered for ours alone, and the record is theirs to read wherever the queue lies.
      await using tenure = await connect({ servers: queue.place.servers, sessionTimeoutMs: T });
      const view = await tenure.election(`app/${name}`, { queuePath: queue.place.path, nodePrefix }).current();
      expect(view.leader).toMatchObject({ id: back.id, foreign: true, token: queue.book.last?.token });
      await queue.dismiss();
      await queue.operator.queueOf(name, 0);
    },
  );
});
