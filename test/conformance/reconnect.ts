import { expect } from 'vitest';
import type { NodeChange, Session } from '../../src/election/port.js';
import { type Bench, type Check, changesOf, NOTHING, type Seat, statesOf, text } from './bench.js';

/** Breaks the connection, does something while the client is away, and waits until it is back. */
async function away(bench: Bench, seat: Seat, meanwhile: () => Promise<unknown> = async () => {}): Promise<void> {
  await seat.cut();
  await seat.drop();
  await bench.until(seat.session, 'disconnected');
  await meanwhile();
  await seat.heal();
  await bench.until(seat.session, 'connected');
}

interface Missed {
  readonly what: string;
  readonly before: 'absent' | 'present';
  readonly watch: (session: Session, path: string) => Promise<unknown>;
  readonly deed: (hand: Session, path: string) => Promise<unknown>;
  readonly heard: NodeChange;
}

const MISSED: readonly Missed[] = [
  {
    what: 'a change of data',
    before: 'present',
    watch: (session, path) => session.read(path, { watch: true }),
    deed: (hand, path) => hand.write(path, text('x'), -1),
    heard: 'changed',
  },
  {
    what: 'a deletion',
    before: 'present',
    watch: (session, path) => session.stat(path, { watch: true }),
    deed: (hand, path) => hand.remove(path),
    heard: 'deleted',
  },
  {
    what: 'a creation',
    before: 'absent',
    watch: (session, path) => session.stat(path, { watch: true }),
    deed: (hand, path) => hand.create(path, NOTHING, 'persistent'),
    heard: 'created',
  },
  {
    what: 'a change of children',
    before: 'present',
    watch: (session, path) => session.children(path, { watch: true }),
    deed: (hand, path) => hand.create(`${path}/c`, NOTHING, 'persistent'),
    heard: 'children',
  },
  {
    what: "a deletion, to who watched the children's list",
    before: 'present',
    watch: (session, path) => session.children(path, { watch: true }),
    deed: (hand, path) => hand.remove(path),
    heard: 'deleted',
  },
];

/** A connection that breaks and comes back, within the session. */
export function reconnectChecks(check: Check): void {
  check('a session survives its connection: disconnected, then connected, the same id', async (bench) => {
    const seat = await bench.seat();
    const { id, timeoutMs } = seat.session;
    await seat.session.create(`${bench.root}/e`, NOTHING, 'ephemeral');
    const states = statesOf(seat.session);
    await away(bench, seat);
    await bench.barrier(seat.session);
    expect(states).toEqual(['disconnected', 'connected']);
    expect(seat.session).toMatchObject({ id, timeoutMs, state: 'connected' });
    expect((await seat.session.stat(`${bench.root}/e`))?.owner).toBe(id);
  });

  check('the state that a listener is told is the state that it can read', async (bench) => {
    const seat = await bench.seat();
    const pairs: string[] = [];
    seat.session.onState((state) => pairs.push(`${state} ${seat.session.state}`));
    await away(bench, seat);
    expect(pairs).toEqual(['disconnected disconnected', 'connected connected']);
  });

  check('a silent server is noticed before the session timeout is over', async (bench) => {
    const seat = await bench.seat({ sessionTimeoutMs: 3_000 });
    await seat.cut();
    await bench.until(seat.session, 'disconnected', 3_000);
    await seat.heal();
    await bench.until(seat.session, 'connected');
    expect(seat.session.state).toBe('connected');
  });

  check('a watch survives a reconnect, and still fires once', async (bench) => {
    const { hand, root } = bench;
    const seat = await bench.seat();
    const absent = `${root}/absent`;
    const changes = [changesOf(seat.session, root), changesOf(seat.session, absent)];
    await bench.barrier(seat.session);
    await seat.session.children(root, { watch: true });
    await seat.session.stat(absent, { watch: true });
    await away(bench, seat);
    await away(bench, seat);
    // By its reply the server has the watches again: what came and went before that is missed for good.
    await bench.barrier(seat.session);
    expect(changes).toEqual([[], []]);
    await hand.create(absent, NOTHING, 'persistent');
    await hand.remove(absent);
    await bench.barrier(seat.session);
    expect(changes).toEqual([['children'], ['created']]);
  });

  check('a watch that has fired is not set again', async (bench) => {
    const { hand, root } = bench;
    const seat = await bench.seat();
    const changes = changesOf(seat.session, root);
    await seat.session.read(root, { watch: true });
    await hand.write(root, NOTHING, -1);
    await bench.barrier(seat.session);
    await away(bench, seat, () => hand.write(root, NOTHING, -1));
    await hand.write(root, NOTHING, -1);
    await bench.barrier(seat.session);
    expect(changes).toEqual(['changed']);
  });

  for (const { what, before, watch, deed, heard } of MISSED) {
    check(`${what} that was missed is announced before any later reply`, async (bench) => {
      const { hand, root } = bench;
      const path = `${root}/n`;
      if (before === 'present') await hand.create(path, NOTHING, 'persistent');
      const seat = await bench.seat();
      await bench.barrier(seat.session);
      const log: string[] = [];
      seat.session.onNode(path, (change) => log.push(change));
      // Asked at the first moment at which that can be done.
      seat.session.onState((state) => {
        if (state === 'connected') void seat.session.stat(root).then(() => log.push('reply'));
      });
      await watch(seat.session, path);
      await away(bench, seat, () => deed(hand, path));
      await bench.eventually('the reply is there', () => log.includes('reply'));
      await bench.barrier(seat.session);
      expect(log).toEqual([heard, 'reply']);
    });
  }

  check('operations called while disconnected settle', async (bench) => {
    const { root } = bench;
    const seat = await bench.seat();
    const settled: string[] = [];
    await away(bench, seat, async () => {
      for (const operation of [seat.session.stat(root), bench.barrier(seat.session), seat.session.sync(root)]) {
        operation.then(
          () => settled.push('done'),
          (error: { kind: string }) => settled.push(error.kind),
        );
      }
    });
    await bench.eventually('all settle', () => settled.length === 3);
    for (const how of settled) expect(['done', 'connection_lost', 'operation_timeout']).toContain(how);
  });

  check('operations under way when the connection breaks settle, after the session is told', async (bench) => {
    const { root } = bench;
    const seat = await bench.seat();
    const log: string[] = [];
    seat.session.onState((state) => log.push(state));
    await seat.deafen();
    const operations = [bench.barrier(seat.session), seat.session.stat(root), seat.session.children(root)];
    for (const operation of operations) {
      operation.then(
        () => log.push('done'),
        (error: { maybeApplied: boolean }) => log.push(error.maybeApplied ? 'maybe' : 'not'),
      );
    }
    await bench.world.sleep(200);
    await seat.drop();
    await seat.heal();
    await bench.eventually('all settle', () => log.filter((what) => what === 'maybe').length === 3);
    expect(log.slice(0, 4)).toEqual(['disconnected', 'maybe', 'maybe', 'maybe']);
    await bench.until(seat.session, 'connected');
  });

  check('reads never go back in time, wherever the client reconnects', async (bench) => {
    const { hand, root } = bench;
    const seat = await bench.seat();
    const states = statesOf(seat.session);
    let going = true;
    const writer = (async () => {
      while (going) await hand.write(root, NOTHING, -1);
    })().catch(() => {});
    let newest = 0n;
    for (let i = 1; i <= 12; i++) {
      for (let j = 0; j < 5; j++) {
        const found = await seat.session.stat(root).catch(() => null);
        if (found === null) continue;
        expect(found.mzxid).toBeGreaterThanOrEqual(newest);
        newest = found.mzxid;
      }
      await seat.drop();
      await bench.eventually('it is back', () => states.length >= 2 * i && states.at(-1) === 'connected');
    }
    going = false;
    await writer;
    expect(newest).toBeGreaterThan(0n);
  });

  check('a write that was confirmed is read after a reconnect', async (bench) => {
    const { root } = bench;
    const seat = await bench.seat();
    for (let i = 0; i < 6; i++) {
      const { version } = await seat.session.write(root, NOTHING, -1);
      await away(bench, seat);
      expect((await seat.session.stat(root))?.version).toBe(version);
    }
  });
}
