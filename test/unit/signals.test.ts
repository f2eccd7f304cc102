import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { fencedFetch } from '../../src/fencing/http-client.js';
import { anyOf } from '../../src/signals.js';
import { collectGarbage } from '../support/collect.js';

const aborted = async (signal: AbortSignal): Promise<boolean> => {
  await collectGarbage();
  for (let look = 0; look < 100 && !signal.aborted; look++) await sleep(20);
  return signal.aborted;
};

describe('a signal that is made of others', () => {
  it('is aborted by a timeout that nobody else has kept', async () => {
    expect(await aborted(anyOf([new AbortController().signal, AbortSignal.timeout(300)]))).toBe(true);
  });

  it('ends the body of an answer that was asked for with such a timeout', async () => {
    const term = {
      token: 7n,
      signal: new AbortController().signal,
      assert() {},
      remainingMs: () => 60_000,
    };
    let sent: AbortSignal | null | undefined;
    const send: typeof fetch = async (_input, init) => {
      sent = init?.signal;
      return new Response('what is read later');
    };
    await fencedFetch(term, 'books', { fetch: send })('http://books', { signal: AbortSignal.timeout(300) });
    if (!sent) throw new Error('nothing was sent');
    expect(await aborted(sent)).toBe(true);
  });
});
