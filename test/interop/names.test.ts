import { expect, it } from 'vitest';
import { waitFor } from '../../deploy/local/index.js';
import type { Recipe } from './programs.js';
import { interop } from './scene.js';

/*
 * Who sees whom in a queue: every candidate orders by its own library's idea of a name. What doesn't mix is shown to have two
 * leaders, so that nobody takes it for a matter of taste.
 */

const T = 4_000;

interop('node names', (scene) => {
  it.concurrent.each<{ first: Recipe; second: Recipe; why: string }>([
    { first: 'kazoo default', second: 'curator selector', why: 'neither knows the other' },
    { first: 'curator selector', second: 'kazoo default', why: 'neither knows the other' },
    {
      first: 'kazoo patterns',
      second: 'curator selector',
      why: 'kazoo would know Curator, but not the other way round',
    },
    { first: 'tenure own', second: 'kazoo default', why: 'kazoo looks for its own names alone' },
    { first: 'curator latch', second: 'curator selector', why: 'two recipes of one library, two words' },
  ])('$first and $second: two leaders, as $why', async ({ first, second }) => {
    const name = `${first}-${second}`.replaceAll(' ', '-');
    await using queue = await scene().open({ name, sessionTimeoutMs: T });
    const one = await queue.enter(first);
    await waitFor(() => one.leads, { what: 'the first to lead' });
    const two = await queue.enter(second);
    await waitFor(() => two.leads, { what: 'the second to lead as well' });
    expect(one.leads).toBe(true);
    expect(queue.book.overlaps).toHaveLength(1);
    await queue.dismiss();
  });

  it.concurrent('kazoo with its own names and the others’ as a pattern: Tenure and go-zookeeper mix with it', async () => {
    await using queue = await scene().open({ name: 'patterns', sessionTimeoutMs: T });
    const recipes: Recipe[] = [
      'kazoo patterns',
      'tenure own',
      'kazoo patterns',
      'go lock',
      'tenure own',
      'kazoo patterns',
    ];
    const candidates = await Promise.all(recipes.map((recipe) => queue.start(recipe)));
    for (const candidate of candidates) await queue.join(candidate);
    let token = 0n;
    for (const candidate of candidates) {
      const leader = await queue.leaderAfter(token);
      expect(leader.who).toBe(candidate.id);
      token = leader.token;
      candidate.leave();
    }
    await queue.operator.queueOf('patterns', 0);
    expect(queue.book.overlaps).toEqual([]);
    expect(queue.book.disorders).toEqual([]);
    await queue.dismiss();
  });

  it.concurrent('go-zookeeper gives up in a queue with a name that it can’t read, Tenure passes it over', async () => {
    await using queue = await scene().open({ name: 'unreadable', sessionTimeoutMs: T });
    const ours = await queue.enter('tenure own');
    await waitFor(() => ours.leads, { what: 'ours to lead' });
    const { session } = queue.operator;
    await session.create(`${queue.place.path}/notes`, Buffer.from('left by somebody'), 'persistent');
    const go = await queue.start('go lock');
    go.join();
    await go.exited;
    expect(go.failures[0]).toContain('notes');
    const next = await queue.enter('tenure own');
    ours.leave();
    await waitFor(() => next.leads, { what: 'the next of ours to lead' });
    expect(queue.book.overlaps).toEqual([]);
  });
});
