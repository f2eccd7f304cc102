import { setTimeout as sleep } from 'node:timers/promises';

/** Something did not become true in time. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
}

export interface WaitOptions {
  /** What is awaited, as it reads in the error: "a leader". */
  readonly what: string;
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Asks `probe` again and again until it returns something other than undefined and false, and returns that. */
export async function waitFor<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { what, timeoutMs = 60_000, intervalMs = 25 }: WaitOptions,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - start > timeoutMs)
      throw new WaitTimeoutError(`waited ${timeoutMs} ms for ${what}: in vain`);
    await sleep(intervalMs);
  }
}
