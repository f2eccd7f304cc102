import { stat } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { Pulse } from '../../src/zookeeper/wire/pulse.js';

/** T: a server may be silent for two thirds of it at such a small one, and is asked after a third. */
const TIMEOUT_MS = 600;
const SILENCE_MS = 400;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

let pulse: Pulse | undefined;
afterEach(() => pulse?.stop());

function start(timeoutMs = TIMEOUT_MS): { pings: number[]; ends: number[] } {
  const heard = { pings: [] as number[], ends: [] as number[] };
  const begin = performance.now();
  pulse = new Pulse(
    timeoutMs,
    () => heard.pings.push(performance.now() - begin),
    () => heard.ends.push(performance.now() - begin),
  );
  return heard;
}

it('asks a server that says nothing once, and then gives it up, once', async () => {
  const { pings, ends } = start();
  await sleep(3 * TIMEOUT_MS);
  expect(pings).toHaveLength(1);
  expect(pings[0]).toBeGreaterThanOrEqual(SILENCE_MS / 2 - 2);
  expect(ends).toHaveLength(1);
  expect(ends[0]).toBeGreaterThanOrEqual(SILENCE_MS - 2);
});

it('asks again and again while there are answers', async () => {
  const { pings, ends } = start();
  for (let i = 0; i < 40; i++) {
    await sleep(50);
    pulse?.heard();
  }
  expect(ends).toEqual([]);
  // Heard all the time, but nothing was sent: the server must hear from us too.
  expect(pings.length).toBeGreaterThan(3);
});

it('sends no pings where enough is sent and heard', async () => {
  const { pings } = start();
  for (let i = 0; i < 40; i++) {
    await sleep(20);
    pulse?.heard();
    pulse?.sent();
  }
  expect(pings.length).toBeLessThan(3);
});

it('does not blame the server for a pause of our own, in which the answer has come', async () => {
  const { pings, ends } = start(3_000);
  while (pings.length === 0) await sleep(1);
  // What has arrived meanwhile is read behind the timers, which are all late.
  stat('/', () => pulse?.heard());
  block(2_000);
  await sleep(100);
  expect(ends).toEqual([]);
});

it('gives a server the time to answer, however late it was asked', async () => {
  const { pings, ends } = start();
  block(3 * TIMEOUT_MS);
  while (pings.length === 0) await sleep(1);
  await sleep(20);
  pulse?.heard();
  await sleep(100);
  expect(ends).toEqual([]);
});
