import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble } from '../../deploy/local/index.js';
import { MixedQueue } from './mixed-queue.js';
import { lacking, Programs, type Recipe } from './programs.js';

/*
 * Candidates of four libraries in one queue, handed on again and again: some resign, some are killed. `make interop` takes the
 * long form.
 */

const LONG = process.env['TENURE_INTEROP'] === 'long';
const HANDOVERS = LONG ? 100 : 10;
const T = 4_000;

let ensemble: Ensemble;
let programs: Programs;

describe.skipIf(lacking !== undefined && !process.env['TENURE_REQUIRE_ALL'])(
  `mixed queues${lacking ? `: ${lacking}` : ''}`,
  () => {
    beforeAll(async () => {
      [ensemble, programs] = await Promise.all([startEnsemble({ tickTime: 500, fsync: false }), Programs.ready()]);
    }, 120_000);

    afterAll(() => ensemble?.close());

    it.concurrent.each<{ what: string; name: string; root?: string; recipes: readonly [Recipe, ...Recipe[]] }>([
      {
        what: 'Tenure, LeaderSelector, kazoo, go-zookeeper',
        name: 'mixed',
        recipes: ['tenure own', 'curator selector', 'kazoo shared', 'go lock'],
      },
      { what: 'Tenure and LeaderLatch', name: 'latched', root: '/fleet', recipes: ['tenure latch', 'curator latch'] },
    ])(
      `$what: ${HANDOVERS} hand-overs, one leader at a time, in the order of arrival, and no ghost`,
      async ({ name, root = '/tenure', recipes }) => {
        await using queue = await MixedQueue.open({ ensemble, programs, name, root, sessionTimeoutMs: T });
        const started = await Promise.all([...recipes, ...recipes].map((recipe) => queue.start(recipe)));
        for (const candidate of started) await queue.join(candidate);
        const size = started.length;

        const replacements: Promise<unknown>[] = [];
        const rounds = new Map<Recipe, number>();
        let leader = await queue.leaderAfter(0n);
        for (let handover = 0; handover < HANDOVERS; handover++) {
          const members = await queue.members();
          expect(members[0]?.id).toBe(leader.who);
          let expected = members[1]?.id;
          const round = (rounds.get(leader.recipe) ?? 0) + 1;
          rounds.set(leader.recipe, round);
          const outgoing = queue.candidate(leader.who);
          if (round % 3 === 0 && members.length > 4 && expected !== undefined) {
            // The one that would be next dies too, unseen by the one behind it until its session is over.
            const next = queue.candidate(expected);
            await queue.kill(next);
            expected = members[2]?.id;
            replacements.push(queue.enter(next.recipe));
          }
          if (round % 2 === 1) {
            await queue.kill(outgoing);
            replacements.push(queue.enter(outgoing.recipe));
          } else {
            outgoing.leave();
            replacements.push(queue.join(outgoing));
          }
          const next = await queue.leaderAfter(leader.token);
          expect(next.who).toBe(expected);
          leader = next;
        }
        await Promise.all(replacements);
        await queue.operator.queueOf(name, size);
        expect(await queue.operator.children(name)).toHaveLength(size);

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
      LONG ? 1_200_000 : 120_000,
    );
  },
);
