import type { Cancel } from '../lease/clock.js';

/** Told of changes; one object may listen to several keys. */
export interface Listener<K, V> {
  changed(key: K, value: V): void;
}

/**
 * Listeners by key. One that is cancelled while the others are being called is not called any more; one that throws
 * doesn't keep the others from being called, and is reported as an uncaught exception.
 */
export class Listeners<K, V> {
  /** One by itself where it is the only one: sets of one would weigh more than all else, by the thousand. */
  readonly #byKey = new Map<K, Listener<K, V> | Set<Listener<K, V>>>();

  /** Each call is a listener of its own. */
  add(key: K, call: (value: V) => void): Cancel {
    const listener = new Calling<K, V>(call);
    this.listen(key, listener);
    return () => this.unlisten(key, listener);
  }

  /** Twice for one key is once. */
  listen(key: K, listener: Listener<K, V>): void {
    const known = this.#byKey.get(key);
    if (known === undefined || known === listener) this.#byKey.set(key, listener);
    else if (known instanceof Set) known.add(listener);
    else this.#byKey.set(key, new Set([known, listener]));
  }

  unlisten(key: K, listener: Listener<K, V>): void {
    const known = this.#byKey.get(key);
    if (known === listener) this.#byKey.delete(key);
    // An emptied set may still be gone through: nothing is added to it any more.
    else if (known instanceof Set && known.delete(listener) && known.size === 0) this.#byKey.delete(key);
  }

  notify(key: K, value: V): void {
    const known = this.#byKey.get(key);
    if (known === undefined) return;
    if (!(known instanceof Set)) tell(known, key, value);
    else for (const listener of [...known]) if (known.has(listener)) tell(listener, key, value);
  }

  clear(): void {
    for (const known of this.#byKey.values()) if (known instanceof Set) known.clear();
    this.#byKey.clear();
  }
}

class Calling<K, V> implements Listener<K, V> {
  readonly #call: (value: V) => void;

  constructor(call: (value: V) => void) {
    this.#call = call;
  }

  changed(_key: K, value: V): void {
    this.#call(value);
  }
}

function tell<K, V>(listener: Listener<K, V>, key: K, value: V): void {
  try {
    listener.changed(key, value);
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
