import { expect } from 'vitest';
import { type Check, changesOf, manyReactions, NOTHING, text } from './bench.js';

/** The order in which things are sent, and in which they come back. */
export function orderChecks(check: Check): void {
  check('replies come in the order of the calls, each with all its reactions before the next', async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    const log: string[] = [];
    const follow = async (name: string, operation: Promise<unknown>) => {
      await operation.catch(() => {});
      log.push(name);
      await manyReactions();
      log.push(`${name}, reacted`);
    };
    const followed: Promise<void>[] = [];
    const expected: string[] = [];
    for (let i = 0; i < 40; i++) {
      const operations = [
        () => session.create(`${root}/${i}`, NOTHING, 'ephemeral'),
        () => session.read(root),
        () => session.write(root, NOTHING, -1),
        () => session.stat(`${root}/absent`),
        () => session.remove(`${root}/absent`),
        () => session.children(root),
        () => session.sync(root),
      ];
      const operation = operations[i % operations.length];
      if (operation !== undefined) followed.push(follow(`${i}`, operation()));
      expected.push(`${i}`, `${i}, reacted`);
    }
    await Promise.all(followed);
    expect(log).toEqual(expected);
  });

  check('node changes keep their place among the replies, and are followed by their reactions', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    const log: string[] = [];
    const told = (name: string) => {
      log.push(name);
      void manyReactions().then(() => log.push(`${name}, reacted`));
    };
    for (let i = 0; i < 25; i++) {
      const path = `${root}/${i}`;
      await hand.create(path, NOTHING, 'persistent');
      // Read through the quorum first: the server that this session is on may lag.
      await bench.barrier(session);
      await session.read(path, { watch: true });
      session.onNode(path, () => told('change'));
      await hand.write(path, text('x'), -1);
      // This write is committed after the change, so the change has to be told first.
      const replies = [bench.barrier(session), session.read(path)];
      await Promise.all(replies.map((reply, at) => reply.then(() => told(`reply ${at}`))));
      await manyReactions();
      await manyReactions();
      expect(log.splice(0)).toEqual(['change', 'reply 0', 'reply 1'].flatMap((name) => [name, `${name}, reacted`]));
    }
  });

  check("a session's own change is announced before the reply of any later operation", async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    const log: string[] = [];
    session.onNode(root, (change) => log.push(change));
    await session.read(root, { watch: true });
    const writing = session.write(root, NOTHING, -1);
    await session.stat(root).then(() => log.push('stat'));
    await writing;
    expect(log).toEqual(['changed', 'stat']);
  });

  check('changes of several nodes are announced in the order in which they were made', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    const paths = Array.from({ length: 20 }, (_, i) => `${root}/${(i * 7) % 20}`);
    const log: string[] = [];
    for (const path of paths) {
      session.onNode(path, () => log.push(path));
      await session.stat(path, { watch: true });
    }
    await Promise.all(paths.map((path) => hand.create(path, NOTHING, 'persistent')));
    await bench.barrier(session);
    expect(log).toEqual(paths);
  });

  check('operations are sent without waiting for one another', async (bench) => {
    const { hand, root } = bench;
    const seat = await bench.seat();
    await seat.deafen();
    let settled = 0;
    const creating = Array.from({ length: 10 }, async (_, i) => {
      await seat.session.create(`${root}/${i}`, NOTHING, 'persistent');
      settled++;
    });
    await bench.eventually('all were sent', async () => (await hand.children(root))?.names.length === 10, 3_000);
    expect(settled).toBe(0);
    await seat.heal();
    await Promise.all(creating);
  });

  check('operations are applied in the order of the calls', async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    const writes = Array.from({ length: 30 }, (_, version) => session.write(root, text(`${version}`), version));
    const read = session.read(root);
    await Promise.all(writes);
    expect((await read)?.stat.version).toBe(30);
  });

  check('a session reads its own writes', async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    for (let i = 1; i <= 25; i++) {
      const { version } = await session.write(root, text(`${i}`), -1);
      expect((await session.read(root))?.stat.version).toBe(version);
      const path = await session.create(`${root}/c-`, NOTHING, 'ephemeral_sequential');
      expect(await session.stat(path)).not.toBeNull();
      await session.remove(path);
      expect(await session.stat(path)).toBeNull();
    }
  });

  check('after a sync, a session reads what was confirmed to others before', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    let late = 0;
    for (let i = 0; i < 25; i++) {
      const { mzxid } = await hand.write(root, NOTHING, -1);
      await bench.eventually('the write shows', async () => {
        const [, seen] = await Promise.all([session.sync(root), session.stat(root)]);
        if (seen !== null && seen.mzxid >= mzxid) return true;
        late += 1;
        return false;
      });
    }
    // At once, but for the ensemble's leader when its own thread is late to apply what its followers have applied: rarely.
    expect(late).toBeLessThanOrEqual(2);
  });

  check('listeners are never called from inside a call', async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    let inside = false;
    const violations: string[] = [];
    session.onState((state) => inside && violations.push(state));
    session.onNode(root, (change) => inside && violations.push(change));
    const call = <T>(act: () => T): T => {
      inside = true;
      try {
        return act();
      } finally {
        inside = false;
      }
    };
    for (let i = 0; i < 10; i++) {
      await call(() => session.read(root, { watch: true }));
      await call(() => session.write(root, NOTHING, -1));
    }
    const heard = changesOf(session, root);
    await session.read(root, { watch: true });
    const last = call(() => session.write(root, NOTHING, -1)).catch(() => {});
    await call(() => session.close());
    await last;
    expect(violations).toEqual([]);
    expect(heard.length).toBeLessThanOrEqual(1);
  });
}
