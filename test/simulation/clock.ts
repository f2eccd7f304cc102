import type { Cancel, Clock } from '../../src/lease/clock.js';
import type { Random } from '../../src/verify/random.js';
import type { Scheduler } from './scheduler.js';

/** When virtual time 0 is, for the wall clocks. */
export const WALL_EPOCH = Date.UTC(2026, 0, 1);

/** As on Linux, where boot time is read in hundredths of a second. */
const BOOT_GRAIN_MS = 10;

interface Timer {
  /** By this clock's monotonic time. */
  readonly due: number;
  readonly fn: () => void;
  disarm: Cancel;
}

/**
 * One process's view of time. It may run fast or slow by its rate, stand still while its machine
 * is suspended (the boot clock goes on), and be set by hand (wall clock alone). Timers count on the
 * monotonic clock, as Node's do, and are a little late, as Node's are.
 */
export class SimulatedClock implements Clock {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #fire: (task: () => void) => void;
  readonly #timers = new Set<Timer>();
  #rate: number;
  /** True time and monotonic time at the last change of pace. */
  #anchor: number;
  #monotonic: number;
  #slept = 0;
  #wallOffset: number;
  #suspended = false;

  /** @param fire runs a due timer, or holds it back while the process is frozen */
  constructor(scheduler: Scheduler, random: Random, rate: number, fire: (task: () => void) => void) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#fire = fire;
    this.#rate = rate;
    this.#anchor = scheduler.now;
    // Clocks of different machines have nothing in common: whoever compares them gets nonsense.
    this.#monotonic = random.between(1_000, 1_000_000);
    this.#slept = random.between(0, 100_000);
    this.#wallOffset = WALL_EPOCH + scheduler.now - this.#monotonic - this.#slept;
  }

  monotonic(): number {
    return this.#suspended ? this.#monotonic : this.#monotonic + this.#sinceAnchor();
  }

  boot(): number {
    return Math.floor(this.#exactBoot() / BOOT_GRAIN_MS) * BOOT_GRAIN_MS;
  }

  wall(): number {
    return Math.floor(this.#exactBoot() + this.#wallOffset);
  }

  after(ms: number, fn: () => void): Cancel {
    const timer: Timer = { due: this.monotonic() + Math.max(1, Math.ceil(ms)), fn, disarm: () => {} };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      this.#timers.delete(timer);
      timer.disarm();
    };
  }

  jumpWall(ms: number): void {
    this.#wallOffset += ms;
  }

  setRate(rate: number): void {
    this.#reanchor();
    this.#rate = rate;
    this.#rearm();
  }

  /** Stops the monotonic clock, and with it every timer. */
  suspend(): void {
    this.#reanchor();
    this.#suspended = true;
    for (const timer of this.#timers) timer.disarm();
  }

  resume(): void {
    this.#reanchor();
    this.#suspended = false;
    this.#rearm();
  }

  #sinceAnchor(): number {
    return (this.#scheduler.now - this.#anchor) * this.#rate;
  }

  #exactBoot(): number {
    return this.#monotonic + this.#slept + this.#sinceAnchor();
  }

  #reanchor(): void {
    const passed = this.#sinceAnchor();
    if (this.#suspended) this.#slept += passed;
    else this.#monotonic += passed;
    this.#anchor = this.#scheduler.now;
  }

  #rearm(): void {
    for (const timer of this.#timers) {
      timer.disarm();
      this.#arm(timer);
    }
  }

  #arm(timer: Timer): void {
    if (this.#suspended) return;
    const lateness = this.#random.chance(0.05) ? this.#random.between(1, 8) : this.#random.between(0, 1);
    const wait = Math.max(0, timer.due - this.monotonic()) / this.#rate;
    timer.disarm = this.#scheduler.after(wait + lateness, () => {
      this.#fire(() => {
        // Cancelled between falling due and being let run: then it must not run.
        if (this.#timers.delete(timer)) timer.fn();
      });
    });
  }
}
