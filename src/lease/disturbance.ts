import type { Clock } from './clock.js';

/** Something happened to this process or its clocks that makes what it believed about the present worthless. */
export type Disturbance =
  /** The event loop came back late: frozen, starved, or busy in one long turn. */
  | {
      /** Which of them. */
      readonly kind: 'process_paused';
      /** For how long, in milliseconds. */
      readonly ms: number;
    }
  /** The machine was suspended: the boot clock went on without the monotonic one. */
  | {
      /** Which of them. */
      readonly kind: 'suspended';
      /** For how long, in milliseconds. */
      readonly ms: number;
    }
  /** The wall clock was set, or this machine restored from a snapshot; positive is forward. */
  | {
      /** Which of them. */
      readonly kind: 'clock_jumped';
      /** How far, in milliseconds. */
      readonly ms: number;
    };

/** All clocks at one look. */
export interface Reading {
  readonly monotonic: number;
  readonly boot: number;
  readonly wall: number;
}

export function reading(clock: Clock): Reading {
  return { monotonic: clock.monotonic(), boot: clock.boot(), wall: clock.wall() };
}

/** From which size on a disturbance counts, in milliseconds. */
export interface Bounds {
  readonly pauseMs: number;
  readonly jumpMs: number;
}

/** What happened between two looks that were meant to be `intervalMs` apart. */
export function disturbances(before: Reading, after: Reading, intervalMs: number, bounds: Bounds): Disturbance[] {
  const monotonic = after.monotonic - before.monotonic;
  const boot = after.boot - before.boot;
  const wall = after.wall - before.wall;
  const found: Disturbance[] = [];
  if (monotonic - intervalMs > bounds.pauseMs) found.push({ kind: 'process_paused', ms: monotonic - intervalMs });
  if (boot - monotonic > bounds.jumpMs) found.push({ kind: 'suspended', ms: boot - monotonic });
  // A suspended machine's wall clock has moved on with the boot clock: that is no jump.
  const jump = wall - Math.max(monotonic, boot);
  if (Math.abs(jump) > bounds.jumpMs) found.push({ kind: 'clock_jumped', ms: jump });
  return found;
}
