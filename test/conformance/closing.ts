import { expect } from 'vitest';
import { type Check, changesOf, NOTHING, refusal, statesOf } from './bench.js';

/** Sessions that we end. */
export function closingChecks(check: Check): void {
  check('close ends the session at once: its ephemeral nodes go, what is persistent stays', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat({ sessionTimeoutMs: 10_000 });
    const states = statesOf(session);
    await session.create(`${root}/e`, NOTHING, 'ephemeral');
    await session.create(`${root}/s-`, NOTHING, 'ephemeral_sequential');
    await session.create(`${root}/p`, NOTHING, 'persistent');
    await session.close();
    expect(session.state).toBe('closed');
    expect(states).toEqual(['closed']);
    await bench.eventually(
      'only the persistent one is left',
      async () => {
        const names = (await hand.children(root))?.names ?? [];
        return names.length === 1 && names[0] === 'p';
      },
      2_000,
    );
  });

  check('operations that were sent before settle', async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    const operations = Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0 ? session.create(`${root}/${i}`, NOTHING, 'persistent') : session.stat(root),
    );
    const outcomes = Promise.allSettled(operations);
    await session.close();
    for (const outcome of await outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ kind: 'session_closed', maybeApplied: true });
      }
    }
  });

  check('every operation after it is refused', async (bench) => {
    const { root } = bench;
    const { session } = await bench.seat();
    const closing = session.close();
    const early = refusal(session.stat(root));
    await closing;
    expect((await early).kind).toBe('session_closed');
    expect(await refusal(session.create(`${root}/n`, NOTHING, 'ephemeral'))).toMatchObject({
      kind: 'session_closed',
      operation: 'create',
      path: `${root}/n`,
    });
    expect(await bench.hand.stat(`${root}/n`)).toBeNull();
  });

  check('no listener is called after it resolves', async (bench) => {
    const { hand, root } = bench;
    const { session } = await bench.seat();
    await session.read(root, { watch: true });
    await session.children(root, { watch: true });
    const heard = [statesOf(session), changesOf(session, root)];
    await session.close();
    const before = JSON.stringify(heard);
    await hand.write(root, NOTHING, -1);
    await hand.create(`${root}/n`, NOTHING, 'persistent');
    await bench.world.sleep(300);
    expect(JSON.stringify(heard)).toBe(before);
  });

  check('closing twice is closing once', async (bench) => {
    const { session } = await bench.seat();
    await Promise.all([session.close(), session.close()]);
    await session.close();
    expect(session.state).toBe('closed');
  });

  check('a session closes while its connection is down, too', async (bench) => {
    const { hand, root } = bench;
    const seat = await bench.seat({ sessionTimeoutMs: 2_000 });
    await seat.session.create(`${root}/e`, NOTHING, 'ephemeral');
    // A server that lags has none of it yet, which is not the same as gone.
    await bench.barrier(hand);
    await seat.cut();
    await seat.drop();
    await bench.until(seat.session, 'disconnected');
    const pending = refusal(seat.session.stat(root));
    await seat.session.close();
    expect(seat.session.state).toBe('closed');
    expect(['session_closed', 'connection_lost', 'operation_timeout']).toContain((await pending).kind);
    await bench.eventually('its node goes with its time', async () => (await hand.stat(`${root}/e`)) === null);
    await seat.heal();
  });

  check('a session closes while its server is silent', async (bench) => {
    const seat = await bench.seat({ sessionTimeoutMs: 2_000 });
    await seat.cut();
    await seat.session.close();
    expect(seat.session.state).toBe('closed');
    await seat.heal();
  });
}
