import { openSync, readSync } from 'node:fs';
import { uptime } from 'node:os';

/** Undoes what it was returned for: stops a timer, removes a listener. Calling it twice is harmless. */
export type Cancel = () => void;

/**
 * The clocks of this machine, in milliseconds. Only differences of `monotonic` and `boot` decide
 * anything; `wall` dates what people read and betrays jumps.
 */
export interface Clock {
  /** Steady while the machine runs; stands still while it is suspended. */
  monotonic(): number;
  /** Steady, and counts the time that the machine was suspended. Coarser: 10 ms on Linux. */
  boot(): number;
  /** Milliseconds since 1970, as people set it: may jump. */
  wall(): number;
  /** Calls `fn` once, `ms` or more from now. Keeps the process alive until then. */
  after(ms: number, fn: () => void): Cancel;
}

/** One moment as both steady clocks saw it. */
export interface Instant {
  readonly monotonic: number;
  readonly boot: number;
}

export function instant(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), boot: clock.boot() };
}

/** Milliseconds from `from` to `to` by whichever clock counted more: a lease must not outlive a suspended machine. */
export function elapsed(from: Instant, to: Instant): number {
  return Math.max(to.monotonic - from.monotonic, to.boot - from.boot);
}

/** Linux's view of CLOCK_BOOTTIME, read from an open descriptor: a few microseconds, which `assert()` can afford. */
function openBootClock(): () => number {
  let descriptor: number;
  try {
    descriptor = openSync('/proc/uptime', 'r');
  } catch {
    return () => uptime() * 1000;
  }
  const buffer = Buffer.alloc(64);
  return () => {
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    return Number.parseFloat(buffer.toString('latin1', 0, length)) * 1000;
  };
}

let boot: (() => number) | undefined;

/** The real clocks. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  boot: () => {
    boot ??= openBootClock();
    return boot();
  },
  wall: () => Date.now(),
  after: (ms, fn) => {
    const timer = setTimeout(fn, Math.max(0, Math.ceil(ms)));
    return () => clearTimeout(timer);
  },
};
