import type { Cancel } from '../../src/lease/clock.js';

interface Entry {
  readonly time: number;
  readonly order: number;
  task: (() => void) | null;
}

export interface RunLimits {
  /** Stop when virtual time reaches this; time then stands exactly there. */
  readonly untilMs?: number;
  /** Stop after this many events. */
  readonly steps?: number;
  /** Stop as soon as this settles, however it settles. */
  readonly until?: Promise<unknown>;
}

/**
 * Virtual time and the events in it. Events run one at a time, by time and then in the order in
 * which they were scheduled. After each one that may have woken code under test, everything that
 * it caused in promise reactions runs to its end before the next event.
 */
export class Scheduler {
  readonly #heap: Entry[] = [];
  #now = 0;
  #order = 0;
  #steps = 0;
  #running = false;
  #woken = false;

  /** True time in milliseconds, which no process sees unskewed. */
  get now(): number {
    return this.#now;
  }

  /** Events run so far. */
  get steps(): number {
    return this.#steps;
  }

  at(time: number, task: () => void): Cancel {
    const entry: Entry = { time: Math.max(time, this.#now), order: this.#order++, task };
    this.#push(entry);
    return () => {
      entry.task = null;
    };
  }

  after(delayMs: number, task: () => void): Cancel {
    return this.at(this.#now + delayMs, task);
  }

  /** To be called by an event that runs, or wakes, code under test: the ensemble's own events need no turn of the real loop. */
  wake(): void {
    this.#woken = true;
  }

  /** @returns why it stopped: a limit was reached, or nothing was left to happen */
  async run(limits: RunLimits): Promise<'time' | 'steps' | 'settled' | 'idle'> {
    if (this.#running) throw new Error('the world is running already');
    this.#running = true;
    let settled = false;
    const settle = () => {
      settled = true;
    };
    limits.until?.then(settle, settle);
    const lastStep = limits.steps === undefined ? Number.POSITIVE_INFINITY : this.#steps + limits.steps;
    const untilMs = limits.untilMs ?? Number.POSITIVE_INFINITY;
    try {
      await reactions();
      for (;;) {
        if (settled) return 'settled';
        if (this.#steps >= lastStep) return 'steps';
        const next = this.#peek();
        if (next === undefined && limits.untilMs === undefined) return 'idle';
        if (next === undefined || next.time > untilMs) {
          this.#now = Math.max(this.#now, untilMs);
          return 'time';
        }
        this.#pop();
        this.#now = next.time;
        this.#steps++;
        next.task?.();
        if (this.#woken) {
          this.#woken = false;
          await reactions();
        }
      }
    } finally {
      this.#running = false;
    }
  }

  /** The next live entry; cancelled ones are dropped on the way. */
  #peek(): Entry | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined || top.task !== null) return top;
      this.#pop();
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!before(entry, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child++;
      const below = heap[child] as Entry;
      if (!before(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}

/** Lets every promise reaction, and those that they cause, run: the real loop takes its next turn only when none is left. */
function reactions(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
