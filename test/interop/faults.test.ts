import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { waitFor, type ZooKeeperServer } from '../../deploy/local/index.js';
import { CoordinatorError } from '../../src/errors.js';
import { fileGuard } from '../../src/fencing/file.js';
import { presenter } from '../../src/fencing/index.js';
import { connect } from '../../src/index.js';
import type { Candidate } from './candidate.js';
import type { Member, MixedQueue } from './mixed-queue.js';
import type { Recipe } from './programs.js';
import { interop } from './scene.js';

/* What goes wrong in mixed queues, and what holds all the same. */

const T = 4_000;
const MIXED: readonly Recipe[] = ['tenure own', 'curator selector', 'kazoo shared', 'go lock'];

interop('faults in mixed queues', (scene) => {
  it.concurrent.each<{ frozen: Recipe; next: Recipe }>([
    { frozen: 'curator selector', next: 'tenure own' },
    { frozen: 'kazoo shared', next: 'tenure own' },
    { frozen: 'go lock', next: 'tenure own' },
    { frozen: 'tenure own', next: 'curator selector' },
  ])(
    '$frozen is frozen past its session: $next leads, and a guard refuses what the frozen one does when it wakes',
    async ({ frozen, next }) => {
      const name = `frozen-${frozen}`.replaceAll(' ', '-');
      const directory = mkdtempSync(join(tmpdir(), 'tenure-interop-'));
      await using queue = await scene().open({ name, sessionTimeoutMs: T });
      try {
        const guard = fileGuard({ directory });
        const old = await queue.enter(frozen);
        const successor = await queue.enter(next);
        const before = await queue.leaderAfter(0n);
        await guard.publish(presenter(before.token), 'state', 'state', old.id);

        old.freeze();
        const after = await queue.leaderAfter(before.token);
        expect(after.who).toBe(successor.id);
        // It has not heard of its end: by its own account it leads, as does the successor.
        expect(queue.book.overlaps).toHaveLength(1);
        await guard.publish(presenter(after.token), 'state', 'state', successor.id);

        old.thaw();
        await expect(guard.publish(presenter(before.token), 'state', 'state', old.id)).rejects.toThrow(/token/);
        await waitFor(() => before.to !== null, { what: 'the frozen one to notice' });
        // Ours could not act all the while, as its lease was over by the clock. The others know no lease.
        expect(queue.book.overlaps).toHaveLength(frozen === 'tenure own' ? 0 : 1);
        expect(successor.leads).toBe(true);
        expect((await queue.members())[0]?.id).toBe(successor.id);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );

  it.concurrent.each<{ recipe: Recipe }>([
    { recipe: 'curator selector' },
    { recipe: 'kazoo shared' },
    { recipe: 'go lock' },
  ])("$recipe isn't told when its znode is deleted by hand: the next one leads as well", async ({ recipe }) => {
    const name = `deleted-${recipe}`.replaceAll(' ', '-');
    await using queue = await scene().open({ name, sessionTimeoutMs: T });
    const old = await queue.enter(recipe);
    const next = await queue.enter('tenure own');
    const before = await queue.leaderAfter(0n);
    const [first] = await queue.members();
    await queue.operator.remove(`${queue.place.path}/${first?.node}`);
    const after = await queue.leaderAfter(before.token);
    expect(after.who).toBe(next.id);
    expect(old.leads).toBe(true);
    expect(after.token).toBeGreaterThan(before.token);
  });

  it('a queue of theirs is moved to our own by a pause: terms go on where they were', async () => {
    await using queue = await scene().open({ name: 'moved', root: '/app', sessionTimeoutMs: T });
    const foreign = await queue.enter('curator selector');
    await using tenure = await connect({ servers: queue.place.servers, sessionTimeoutMs: T });
    const order = { by: 'test', reason: 'moving' };
    const theirs = tenure.election('moved', { queuePath: queue.place.path });
    const campaign = theirs.campaign();
    await queue.operator.queueOf('moved', 2);
    foreign.leave();
    const term = await campaign;
    await theirs.pause(order);
    await waitFor(() => term.signal.aborted, { what: 'the pause to be heard' });
    await term.resign();
    const own = tenure.election('moved');
    const again = own.campaign();
    await own.resume(order);
    const next = await again;
    expect([term.number, next.number]).toEqual([1, 2]);
    expect(next.token).toBeGreaterThan(term.token);
    expect(next.previous).toMatchObject({ term: 1, end: 'paused' });
    await next.resign();
  });

  it('servers restart amid hand-overs: one leader at a time, nobody stuck, no ghost', async () => {
    const name = 'restarts';
    await using queue = await scene().open({ name, sessionTimeoutMs: 2 * T });
    const candidates = await Promise.all([...MIXED, ...MIXED].map((recipe) => queue.start(recipe)));
    for (const candidate of candidates) await queue.join(candidate);
    const { servers } = scene().ensemble;
    for (let turn = 0; ; turn++) {
      const leader = await leaderOrNobody(queue, candidates);
      if (leader === undefined) break;
      const restart = servers[turn % servers.length] as ZooKeeperServer;
      if (turn % 2 === 0) await Promise.all([restart.kill().then(() => restart.start()), leader.leave()]);
      else leader.leave();
      await waitFor(() => !leader.leads, { what: `${leader.id} to give up` });
    }
    expect(queue.book.overlaps).toEqual([]);
    expect(queue.book.disorders).toEqual([]);
    // Some lose their turn with the connection. Whoever was not hit has had it.
    expect(queue.book.all.length).toBeGreaterThanOrEqual(candidates.length / 2);
    await queue.dismiss();
    await queue.operator.queueOf(name, 0);
    expect(await queue.operator.children(name)).toEqual([]);
  });
});

/** Whoever leads; undefined once the queue is empty. A queue that stands still is an error. */
async function leaderOrNobody(queue: MixedQueue, candidates: readonly Candidate[]): Promise<Candidate | undefined> {
  let members: Member[] = [];
  return waitFor(
    async () => {
      const leader = candidates.find(({ leads }) => leads);
      if (leader !== undefined) return { leader };
      const seen = await queue.members().catch((error: unknown) => {
        // The server that we look at may be the one that restarts.
        if (error instanceof CoordinatorError && error.retriable) return null;
        throw error;
      });
      members = seen ?? members;
      return seen?.length === 0 && { leader: undefined };
    },
    { what: 'a leader, or an empty queue', timeoutMs: 60_000, intervalMs: 20 },
  )
    .then(({ leader }) => leader)
    .catch((error: Error) => {
      throw new Error(`${error.message}; in the queue stand ${members.map(({ id }) => id).join(', ')}`);
    });
}

interop(
  'a queue that Curator has made',
  (scene) => {
    it('goes away when it is empty, with all that was made above it, and is made again', async () => {
      await using queue = await scene().open({ name: 'contained', root: '/app', sessionTimeoutMs: T });
      const { session } = queue.operator;
      const curator = await queue.enter('curator selector');
      const first = await queue.leaderAfter(0n);
      curator.leave();
      await waitFor(async () => (await session.stat('/app')) === null, { what: 'the containers to go' });

      // The numbers begin anew; tokens go on.
      const ours = await queue.enter('tenure lock-');
      const [member] = await queue.members();
      expect(member?.node).toMatch(/-lock-0000000000$/);
      const second = await queue.leaderAfter(first.token);
      expect(second.who).toBe(ours.id);
      ours.leave();
      await queue.operator.queueOf('contained', 0);

      // And an election of ours whose queue Curator had made, before anything of it was on record.
      await using own = await scene().open({ name: 'deep/contained', sessionTimeoutMs: T });
      const there = await own.enter('curator selector');
      const { token } = await own.leaderAfter(0n);
      there.leave();
      await waitFor(async () => (await session.stat('/tenure/deep')) === null, { what: 'the containers to go' });
      const late = await own.enter('tenure own');
      expect((await own.leaderAfter(token)).who).toBe(late.id);
      expect(own.book.overlaps).toEqual([]);
    });
  },
  { size: 1, javaOptions: ['-Dznode.container.checkIntervalMs=200'] },
);
