import { describe, expect, test } from 'vitest';
import { Random } from '../../src/verify/random.js';
import { SimulatedClock } from './clock.js';
import { SimulatedProcess } from './process.js';
import { Scheduler } from './scheduler.js';

function clockOf(scheduler: Scheduler, rate = 1): SimulatedClock {
  return new SimulatedClock(scheduler, new Random(1), rate, (task) => {
    scheduler.wake();
    task();
  });
}

describe('Scheduler', () => {
  test('runs events by time, then in the order in which they were scheduled', async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    const random = new Random(5);
    const times = random.shuffle(Array.from({ length: 200 }, (_, i) => i % 40));
    for (const [order, time] of times.entries()) scheduler.at(time, () => seen.push(`${time}:${order}`));
    const expected = times
      .map((time, order) => ({ time, order }))
      .sort((a, b) => a.time - b.time || a.order - b.order)
      .map(({ time, order }) => `${time}:${order}`);
    expect(await scheduler.run({})).toBe('idle');
    expect(seen).toEqual(expected);
  });

  test('lets every promise reaction of an event run before the next event', async () => {
    const scheduler = new Scheduler();
    const seen: string[] = [];
    scheduler.at(1, () => {
      scheduler.wake();
      void (async () => {
        for (let i = 0; i < 50; i++) await Promise.resolve();
        process.nextTick(() => void Promise.resolve().then(() => seen.push('reaction')));
      })();
    });
    scheduler.at(1, () => seen.push('next event'));
    await scheduler.run({});
    expect(seen).toEqual(['reaction', 'next event']);
  });

  test('stops at the time, at the step count, when a promise settles, or when nothing is left', async () => {
    const scheduler = new Scheduler();
    for (let time = 1; time <= 9; time++) scheduler.at(time, () => {});
    expect(await scheduler.run({ untilMs: 2.5 })).toBe('time');
    expect(scheduler.now).toBe(2.5);
    expect(await scheduler.run({ steps: 2 })).toBe('steps');
    expect(scheduler.now).toBe(4);
    const settled = new Promise<void>((_, reject) => {
      scheduler.at(6.5, () => {
        scheduler.wake();
        reject(new Error('as well'));
      });
    });
    expect(await scheduler.run({ until: settled })).toBe('settled');
    expect(scheduler.now).toBe(6.5);
    expect(await scheduler.run({ untilMs: 8 })).toBe('time');
    expect(await scheduler.run({})).toBe('idle');
    expect(scheduler.now).toBe(9);
  });

  test('does not run what was cancelled', async () => {
    const scheduler = new Scheduler();
    const seen: number[] = [];
    const cancel = scheduler.at(2, () => seen.push(2));
    scheduler.at(1, () => cancel());
    scheduler.at(3, () => seen.push(3));
    await scheduler.run({});
    expect(seen).toEqual([3]);
  });
});

describe('SimulatedClock', () => {
  test('runs at its rate, and its timers with it, never early', async () => {
    const scheduler = new Scheduler();
    const fast = clockOf(scheduler, 1.05);
    const from = fast.monotonic();
    let firedAfter = 0;
    fast.after(1_000, () => {
      firedAfter = fast.monotonic() - from;
    });
    await scheduler.run({ untilMs: 2_000 });
    expect(firedAfter).toBeGreaterThanOrEqual(1_000);
    expect(firedAfter).toBeLessThan(1_020);
    expect(fast.monotonic() - from).toBeCloseTo(2_100, 6);
  });

  test('suspended, stands still with its timers while boot time goes on', async () => {
    const scheduler = new Scheduler();
    const clock = clockOf(scheduler);
    const from = { monotonic: clock.monotonic(), boot: clock.boot() };
    let firedAt = 0;
    clock.after(1_000, () => {
      firedAt = scheduler.now;
    });
    await scheduler.run({ untilMs: 400 });
    scheduler.at(400, () => clock.suspend());
    scheduler.at(5_400, () => clock.resume());
    await scheduler.run({ untilMs: 10_000 });
    expect(firedAt).toBeGreaterThanOrEqual(6_000);
    expect(firedAt).toBeLessThan(6_020);
    expect(clock.monotonic() - from.monotonic).toBeCloseTo(5_000, 6);
    expect(Math.abs(clock.boot() - from.boot - 10_000)).toBeLessThanOrEqual(10);
  });

  test('a wall jump moves the wall clock alone', () => {
    const clock = clockOf(new Scheduler());
    const before = [clock.monotonic(), clock.boot(), clock.wall()] as const;
    clock.jumpWall(-3_600_000);
    expect([clock.monotonic(), clock.boot(), clock.wall()]).toEqual([before[0], before[1], before[2] - 3_600_000]);
  });
});

describe('SimulatedProcess', () => {
  test('frozen, runs nothing and forgets nothing; its clock goes on', async () => {
    const scheduler = new Scheduler();
    const process = new SimulatedProcess(scheduler, new Random(2), 'p', 1);
    const seen: string[] = [];
    const from = process.clock.monotonic();
    process.clock.after(10, () => seen.push('timer 1'));
    process.clock.after(20, () => seen.push('timer 2'));
    const cancel = process.clock.after(30, () => seen.push('cancelled'));
    process.freeze();
    for (const n of [1, 2, 3]) scheduler.at(n * 15, () => process.run(() => seen.push(`message ${n}`)));
    scheduler.at(5_000, () => {
      process.thaw();
      cancel();
      // Arrives after the thaw: behind what was held back.
      process.run(() => seen.push('message 4'));
    });
    await scheduler.run({ untilMs: 4_999 });
    expect(seen).toEqual([]);
    expect(process.clock.monotonic() - from).toBeCloseTo(4_999, 6);
    await scheduler.run({});
    expect(seen.filter((what) => what.startsWith('message'))).toEqual([1, 2, 3, 4].map((n) => `message ${n}`));
    expect(seen.filter((what) => !what.startsWith('message'))).toEqual(['timer 1', 'timer 2']);
  });

  test('dead, never runs again', async () => {
    const scheduler = new Scheduler();
    const process = new SimulatedProcess(scheduler, new Random(2), 'p', 1);
    process.clock.after(10, () => expect.unreachable());
    process.post(() => expect.unreachable());
    process.die();
    process.thaw();
    await scheduler.run({});
  });
});
