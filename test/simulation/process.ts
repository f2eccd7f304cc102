import type { Cancel } from '../../src/lease/clock.js';
import type { Random } from '../../src/verify/random.js';
import { SimulatedClock } from './clock.js';
import type { Host } from './network.js';
import type { Scheduler } from './scheduler.js';

/**
 * One client process: a clock of its own, and one thread on which its messages and timers run.
 * Frozen (a stopped process, a long collection), nothing of it runs and its clocks go on; suspended
 * (a laptop's lid, a paused machine with honest clocks), its monotonic clock stands still too. When
 * it wakes, messages run in their order, timers in theirs, and the two interleave as chance has it.
 */
export class SimulatedProcess implements Host {
  readonly name: string;
  readonly clock: SimulatedClock;
  readonly random: Random;
  readonly #scheduler: Scheduler;
  readonly #messages: (() => void)[] = [];
  readonly #timers: (() => void)[] = [];
  #halted = false;
  #suspended = false;
  #dead = false;
  #waking = false;

  constructor(scheduler: Scheduler, random: Random, name: string, rate: number) {
    this.#scheduler = scheduler;
    this.random = random;
    this.name = name;
    this.clock = new SimulatedClock(scheduler, random.fork(), rate, (task) => this.#gate(this.#timers, task));
  }

  get dead(): boolean {
    return this.#dead;
  }

  get frozen(): boolean {
    return this.#halted;
  }

  /** Runs a message's handler now, or when the process gets to it; never once it is dead. */
  run(task: () => void): void {
    this.#gate(this.#messages, task);
  }

  /** Runs the task as an event of its own, soon: never inside the caller's call. */
  post(task: () => void): Cancel {
    return this.#scheduler.after(0, () => this.run(task));
  }

  freeze(): void {
    this.#halted = true;
  }

  thaw(): void {
    if (!this.#halted || this.#dead) return;
    if (this.#suspended) {
      this.#suspended = false;
      this.clock.resume();
    }
    this.#halted = false;
    this.#wakeUp();
  }

  /** Until {@link thaw}. */
  suspend(): void {
    if (this.#suspended) return;
    this.#halted = true;
    this.#suspended = true;
    this.clock.suspend();
  }

  /** Nothing of it ever runs again. The world closes its connections. */
  die(): void {
    this.#dead = true;
    this.#messages.length = 0;
    this.#timers.length = 0;
  }

  #gate(backlog: (() => void)[], task: () => void): void {
    if (this.#dead) return;
    if (this.#halted || this.#messages.length > 0 || this.#timers.length > 0) {
      backlog.push(task);
      return;
    }
    this.#scheduler.wake();
    task();
  }

  /** One held-back task is one event, so that each is followed by its promise reactions. */
  #wakeUp(): void {
    if (this.#waking) return;
    this.#waking = true;
    this.#scheduler.after(0, () => {
      this.#waking = false;
      if (this.#halted || this.#dead) return;
      const timersFirst = this.#messages.length === 0 || this.random.chance(0.5);
      const task = (timersFirst ? this.#timers.shift() : undefined) ?? this.#messages.shift() ?? this.#timers.shift();
      if (task === undefined) return;
      if (this.#messages.length > 0 || this.#timers.length > 0) this.#wakeUp();
      this.#scheduler.wake();
      task();
    });
  }
}
