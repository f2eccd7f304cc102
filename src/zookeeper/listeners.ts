import type { Cancel } from '../lease/clock.js';

/**
 * Listeners by key. One that is cancelled while the others are being called is not called any more; one that throws
 * doesn't keep the others from being called, and is reported as an uncaught exception.
 */
export class Listeners<K, V> {
  readonly #byKey = new Map<K, Set<{ readonly call: (value: V) => void }>>();

  add(key: K, call: (value: V) => void): Cancel {
    const entry = { call };
    const entries = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, entries.add(entry));
    return () => {
      entries.delete(entry);
      // An emptied set may have been replaced by a later one under the same key.
      if (entries.size === 0 && this.#byKey.get(key) === entries) this.#byKey.delete(key);
    };
  }

  notify(key: K, value: V): void {
    const entries = this.#byKey.get(key);
    if (entries === undefined) return;
    for (const entry of [...entries]) {
      if (!entries.has(entry)) continue;
      try {
        entry.call(value);
      } catch (error) {
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }

  clear(): void {
    for (const entries of this.#byKey.values()) entries.clear();
    this.#byKey.clear();
  }
}
