import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Stops } from '../../src/election/stop.js';
import { orAborted } from '../../src/election/waiting.js';

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
});
