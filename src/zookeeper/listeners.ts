import type { Cancel } from '../lease/clock.js';

/**
 * Listeners by key. One that is cancelled while the others are being called is not called any more; one that throws
 * doesn't keep the others from being called, and is reported as an uncaught exception.
 */
export class Listeners<K, V> {
  /** One by itself where it is the only one: sets of one would weigh more than all else, by the thousand. */
  readonly #byKey = new Map<K, Entry<V> | Set<Entry<V>>>();

  add(key: K, call: (value: V) => void): Cancel {
    const entry = { call };
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, entry);
    else if (known instanceof Set) known.add(entry);
    else this.#byKey.set(key, new Set([known, entry]));
    return () => this.#remove(key, entry);
  }

  notify(key: K, value: V): void {
    const known = this.#byKey.get(key);
    if (known === undefined) return;
    if (!(known instanceof Set)) call(known, value);
    else for (const entry of [...known]) if (known.has(entry)) call(entry, value);
  }

  clear(): void {
    for (const known of this.#byKey.values()) if (known instanceof Set) known.clear();
    this.#byKey.clear();
  }

  #remove(key: K, entry: Entry<V>): void {
    const known = this.#byKey.get(key);
    if (known === entry) this.#byKey.delete(key);
    // An emptied set may still be gone through: nothing is added to it any more.
    else if (known instanceof Set && known.delete(entry) && known.size === 0) this.#byKey.delete(key);
  }
}

interface Entry<V> {
  readonly call: (value: V) => void;
}

function call<V>(entry: Entry<V>, value: V): void {
  try {
    entry.call(value);
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
