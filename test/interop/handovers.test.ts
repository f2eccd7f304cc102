import { expect, it } from 'vitest';
import type { Recipe } from './programs.js';
import { interop } from './scene.js';

/*
 * Candidates of four libraries in one queue, handed on again and again: some resign, some are killed. `make interop` takes the
 * long form.
 */

const LONG = process.env['TENURE_INTEROP'] === 'long';
const HANDOVERS = LONG ? 100 : 10;
const T = 4_000;

interop('mixed queues', (scene) => {
  it.concurrent.each<{ what: string; name: string; root: string; recipes: readonly Recipe[] }>([
    {
      what: 'Tenure, LeaderSelector, kazoo, go-zookeeper',
      name: 'mixed',
      root: '/tenure',
      recipes: ['tenure own', 'curator selector', 'kazoo shared', 'go lock'],
    },
    { what: 'Tenure and LeaderLatch', name: 'latched', root: '/fleet', recipes: ['tenure latch-', 'curator latch'] },
  ])(
    `$what: ${HANDOVERS} hand-overs, one leader at a time, in the order of arrival, and no ghost`,
    async ({ name, root, recipes }) => {
      await using queue = await scene().open({ name, root, sessionTimeoutMs: T });
      const started = await Promise.all([...recipes, ...recipes].map((recipe) => queue.start(recipe)));
      for (const candidate of started) await queue.join(candidate);

      const replacements: Promise<unknown>[] = [];
      const replace = (joining: Promise<unknown>): void => {
        joining.catch(() => {}); // Told at the end, unless something else fails before.
        replacements.push(joining);
      };
      const rounds = new Map<Recipe, number>();
      let leader = await queue.leaderAfter(0n);
      for (let handover = 0; handover < HANDOVERS; handover++) {
        const [first, ...others] = await queue.alive(3);
        expect(first?.id).toBe(leader.who);
        const round = (rounds.get(leader.recipe) ?? 0) + 1;
        rounds.set(leader.recipe, round);
        const outgoing = queue.candidate(leader.who);
        if (round % 3 === 0) {
          // The one that would be next dies too, unseen by the one behind it until its session is over.
          const next = queue.candidate(others.shift()?.id ?? '');
          await queue.kill(next);
          replace(queue.enter(next.recipe));
        }
        if (round % 2 === 1) {
          await queue.kill(outgoing);
          replace(queue.enter(outgoing.recipe));
        } else {
          outgoing.leave();
          replace(queue.join(outgoing));
        }
        leader = await queue.leaderAfter(leader.token);
        expect(leader.who).toBe(others[0]?.id);
      }
      await Promise.all(replacements);
      await queue.operator.queueOf(name, started.length);
      expect(await queue.operator.children(name)).toHaveLength(started.length);

      const led = queue.book.all;
      expect(led).toHaveLength(HANDOVERS + 1);
      expect(queue.book.overlaps).toEqual([]);
      expect(queue.book.disorders).toEqual([]);
      for (const recipe of recipes) {
        const why = led.filter((leadership) => leadership.recipe === recipe).map((leadership) => leadership.why);
        expect(why).toContain('killed');
        expect(why).toContain('resigned');
      }

      await queue.dismiss();
      await queue.operator.queueOf(name, 0);
      expect(await queue.operator.children(name)).toEqual([]);
    },
    LONG ? 1_800_000 : 300_000,
  );
});
