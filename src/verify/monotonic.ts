/** Milliseconds of CLOCK_MONOTONIC, which all processes of a machine share: what was noted in two of them can be compared. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Resolves after so long, or as soon as the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/** Looks again and again. @returns whether it came true in time, and before the signal was aborted */
export async function until(condition: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const giveUpAt = monotonicMs() + timeoutMs;
  while (!condition()) {
    if (signal.aborted || monotonicMs() > giveUpAt) return false;
    await sleep(20, signal);
  }
  return true;
}
