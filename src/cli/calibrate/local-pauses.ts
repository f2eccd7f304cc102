import { readFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

/** How this machine let this process run. Milliseconds. */
export interface LocalPauses {
  /** How late a timer of 10 ms came, each time. */
  readonly loopMs: readonly number[];
  /** Each garbage collection. */
  readonly gcMs: readonly number[];
  /** Waiting for a processor although ready to run, in each tenth of a second; null where the system doesn't tell. */
  readonly schedulerMs: readonly number[] | null;
  /** For how long the control group held us back in all; null where there is none. */
  readonly throttledMs: number | null;
}

const LOOP_MS = 10;
const SCHEDULER_MS = 100;

/** Watches from now on; `stop` says what it saw. */
export function watchPauses(): { stop(): LocalPauses } {
  const loopMs: number[] = [];
  const gcMs: number[] = [];
  const schedulerMs: number[] = [];
  let due = performance.now() + LOOP_MS;
  const loop = setInterval(() => {
    const now = performance.now();
    loopMs.push(Math.max(0, now - due));
    due = now + LOOP_MS;
  }, LOOP_MS);
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) gcMs.push(duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  let waited = runQueueWaitMs();
  const scheduler = setInterval(() => {
    const now = runQueueWaitMs();
    if (now !== null && waited !== null) schedulerMs.push(now - waited);
    waited = now;
  }, SCHEDULER_MS);
  const known = waited !== null;
  const throttledBefore = throttled();
  return {
    stop() {
      clearInterval(loop);
      clearInterval(scheduler);
      observer.disconnect();
      const after = throttled();
      const throttledMs = after === null || throttledBefore === null ? null : after - throttledBefore;
      return { loopMs, gcMs, schedulerMs: known ? schedulerMs : null, throttledMs };
    },
  };
}

/** Of the main thread: the second number of its schedstat. */
function runQueueWaitMs(): number | null {
  const wait = Number(text('/proc/self/schedstat').split(' ')[1] ?? Number.NaN);
  return Number.isFinite(wait) ? wait / 1e6 : null;
}

function throttled(): number | null {
  const group = /^0::(.+)$/m.exec(text('/proc/self/cgroup'))?.[1];
  const usec = /^throttled_usec (\d+)$/m.exec(text(`/sys/fs/cgroup${group ?? ''}/cpu.stat`))?.[1];
  return usec === undefined ? null : Number(usec) / 1_000;
}

function text(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
