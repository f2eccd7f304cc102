import { expect } from 'vitest';
import { ConnectTimeoutError } from '../../src/errors.js';
import type { Check } from './bench.js';

/** Opening a session. */
export function openingChecks(check: Check): void {
  check('a new session is connected and has an id of its own', async (bench) => {
    const { session: a } = await bench.seat();
    const { session: b } = await bench.seat();
    expect(a.state).toBe('connected');
    expect(a.id).toMatch(/^[0-9a-f]{16}$/);
    expect(b.id).not.toBe(a.id);
  });

  check('one driver opens several sessions', async (bench) => {
    const { driver, session: a } = await bench.seat();
    const b = bench.keep(await driver.open());
    expect(b.id).not.toBe(a.id);
    await bench.barrier(a);
    await bench.barrier(b);
  });

  check('the timeout is what the ensemble grants, not what was asked for', async (bench) => {
    const { tickMs } = bench.world;
    const timeoutOf = async (asked: number) => (await bench.seat({ sessionTimeoutMs: asked })).session.timeoutMs;
    expect(await timeoutOf(300)).toBe(2 * tickMs);
    expect(await timeoutOf(5 * tickMs)).toBe(5 * tickMs);
    expect(await timeoutOf(1_000 * tickMs)).toBe(20 * tickMs);
  });

  check('open rejects with the reason of a signal that is aborted already', async (bench) => {
    const { driver } = await bench.world.party({});
    const reason = new Error('not any more');
    await expect(driver.open(AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  check('open rejects with the reason of a signal that is aborted meanwhile', async (bench) => {
    const party = await bench.world.party({});
    await party.cut();
    const controller = new AbortController();
    const opening = party.driver.open(controller.signal);
    const outcome = opening.catch((error: unknown) => error);
    await bench.world.sleep(100);
    const reason = { not: 'even an error' };
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    await party.heal();
    bench.keep(await party.driver.open());
  });

  check('an abort after the session was granted changes nothing', async (bench) => {
    const { driver } = await bench.world.party({});
    const controller = new AbortController();
    const session = bench.keep(await driver.open(controller.signal));
    controller.abort(new Error('too late'));
    await bench.barrier(session);
    expect(session.state).toBe('connected');
  });

  check('open gives up at the connect deadline', async (bench) => {
    const party = await bench.world.party({ connectTimeoutMs: 700 });
    await party.cut();
    await expect(party.driver.open()).rejects.toBeInstanceOf(ConnectTimeoutError);
    await party.heal();
  });
}
