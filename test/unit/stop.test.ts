import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Stops } from '../../src/election/stop.js';
import { orAborted } from '../../src/election/waiting.js';
import { collectGarbage } from '../support/collect.js';

const closing = new AbortController();

describe('a stop', () => {
  it('is one and the same for all who gave the same signal, and tells each of them once', () => {
    const stops = new Stops(closing.signal);
    const caller = new AbortController();
    const stop = stops.orClosing(caller.signal);
    expect(stops.orClosing(caller.signal)).toBe(stop);
    expect(stops.orClosing(new AbortController().signal)).not.toBe(stop);
    const told: string[] = [];
    const leaves = () => told.push('one who left');
    stop.addEventListener('abort', () => {
      told.push('first');
      stop.removeEventListener('abort', leaves);
    });
    stop.addEventListener('abort', leaves);
    stop.addEventListener('abort', () => told.push('last'));
    caller.abort(new Error('enough'));
    expect(told).toEqual(['first', 'last']);
    expect([stop.aborted, stop.reason]).toEqual([true, new Error('enough')]);
  });

  it('is aborted by the end of the connection too, unless it is for the signal alone', async () => {
    const ending = new AbortController();
    const stops = new Stops(ending.signal);
    const { signal } = new AbortController();
    const waits = [stops.orClosing(undefined), stops.orClosing(signal)].map((stop) =>
      orAborted(new Promise(() => {}), stop),
    );
    ending.abort(new Error('closed'));
    for (const wait of waits) await expect(wait).rejects.toThrow('closed');
    expect(stops.of(signal).aborted).toBe(false);
  });

  it('leaves one listener at most with the signal of a caller, however many wait', async () => {
    const caller = new AbortController();
    const stop = new Stops(closing.signal).of(caller.signal);
    let finish = (_: string): void => {};
    const promise = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const waits = Array.from({ length: 1_000 }, () => orAborted(promise, stop));
    expect(getEventListeners(caller.signal, 'abort').length).toBeLessThanOrEqual(1);
    finish('done');
    await Promise.all(waits);
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
  });

  it('comes from a signal that nobody else has kept', async () => {
    const stops = new Stops(closing.signal);
    // As in campaign({ signal: AbortSignal.timeout(5_000) }).
    const waits = [stops.of(AbortSignal.timeout(300)), stops.orClosing(AbortSignal.timeout(300))].map((stop) =>
      orAborted(new Promise(() => {}), stop),
    );
    // Before anything else: to collect may take longer than they wait.
    const settled = Promise.allSettled(waits);
    await collectGarbage();
    const ends = await Promise.race([settled, sleep(5_000, 'never')]);
    expect(ends).toMatchObject([{ reason: { name: 'TimeoutError' } }, { reason: { name: 'TimeoutError' } }]);
  });

  it('tells the others when one of them throws, which is reported', async () => {
    const caller = new AbortController();
    const stop = new Stops(closing.signal).of(caller.signal);
    const told: string[] = [];
    stop.addEventListener('abort', () => {
      throw new Error('a mistake');
    });
    stop.addEventListener('abort', () => told.push('other'));
    const others = process.rawListeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const reported = new Promise((resolve) => process.once('uncaughtException', resolve));
    try {
      caller.abort();
      expect(told).toEqual(['other']);
      await expect(reported).resolves.toEqual(new Error('a mistake'));
    } finally {
      for (const each of others) process.on('uncaughtException', each as () => void);
    }
  });
});
