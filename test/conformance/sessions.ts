import { expect } from 'vitest';
import { type Check, NOTHING, refusal, statesOf } from './bench.js';

/** Sessions that end without our doing. */
export function sessionChecks(check: Check): void {
  check('a session that the ensemble does not hear expires, its ephemeral nodes go, and it is told', async (bench) => {
    const { hand, root } = bench;
    const seat = await bench.seat({ sessionTimeoutMs: 2_000 });
    const states = statesOf(seat.session);
    await seat.session.create(`${root}/e`, NOTHING, 'ephemeral');
    // A server that lags has none of it yet, which is not the same as gone.
    await bench.barrier(hand);
    await seat.cut();
    const pending = refusal(bench.barrier(seat.session));
    await bench.eventually('its node is gone', async () => (await hand.stat(`${root}/e`)) === null);
    expect(seat.session.state, 'nobody has told it yet').not.toBe('expired');
    await seat.heal();
    await bench.until(seat.session, 'expired');
    expect(states).toEqual(['disconnected', 'expired']);
    const { kind, maybeApplied } = await pending;
    expect(['connection_lost', 'operation_timeout', 'session_expired']).toContain(kind);
    expect(maybeApplied).toBe(true);
  });

  check('after its end every operation is refused, and the end is final', async (bench) => {
    const { root } = bench;
    const seat = await bench.seat();
    const { session } = seat;
    await bench.world.closeSession(session);
    await bench.until(session, 'expired');
    const operations: Record<string, () => Promise<unknown>> = {
      create: () => session.create(`${root}/n`, NOTHING, 'persistent'),
      remove: () => session.remove(`${root}/n`),
      write: () => session.write(root, NOTHING, -1),
      read: () => session.read(root),
      stat: () => session.stat(root),
      children: () => session.children(root),
      sync: () => session.sync(root),
    };
    for (const [operation, act] of Object.entries(operations)) {
      expect(await refusal(act())).toMatchObject({ kind: 'session_expired', operation });
    }
    await session.close();
    expect(session.state).toBe('expired');
    const next = bench.keep(await seat.driver.open());
    expect(next.id).not.toBe(session.id);
    await bench.barrier(next);
  });

  check('a session that another holder closes is over: told once, nodes gone, operations settled', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    const states = statesOf(session);
    await session.create(`${root}/e`, NOTHING, 'ephemeral');
    // A server that lags has none of it yet, which is not the same as gone.
    await bench.barrier(hand);
    await bench.world.closeSession(session);
    await bench.eventually('its node is gone', async () => (await hand.stat(`${root}/e`)) === null, 2_000);
    const refused = await refusal(
      (async () => {
        for (;;) await bench.barrier(session);
      })(),
    );
    expect(['connection_lost', 'operation_timeout', 'session_expired']).toContain(refused.kind);
    await bench.until(session, 'expired');
    expect(states.at(-1)).toBe('expired');
    expect(states.filter((state) => state === 'expired')).toHaveLength(1);
    expect((await hand.stat(root))?.owner).toBeNull();
  });

  check('the end is told before what it makes fail', async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    const log: string[] = [];
    session.onState((state) => {
      log.push(state);
      // Called inside the very notice of the end.
      if (state === 'expired') session.stat(root).catch((error: { kind: string }) => log.push(error.kind));
    });
    await bench.world.closeSession(session);
    await bench.eventually('it is told', () => log.includes('session_expired'));
    expect(log.slice(-2)).toEqual(['expired', 'session_expired']);
  });

  check('a cancelled state listener is not told', async (bench) => {
    const { session } = await bench.seat();
    const told: string[] = [];
    const cancel = session.onState((state) => told.push(state));
    cancel();
    cancel();
    const states = statesOf(session);
    await bench.world.closeSession(session);
    await bench.until(session, 'expired');
    expect(told).toEqual([]);
    expect(states.at(-1)).toBe('expired');
  });
}
