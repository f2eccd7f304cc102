import { InvalidOptionError } from '../errors.js';
import type { Cancel } from '../lease/clock.js';
import { checkKeys, shown } from './checks.js';
import type { Stoppable } from './stop.js';
import { abortable } from './waiting.js';

/** Options of {@link Tenure.hold} and {@link Election.hold}. */
export interface HoldOptions {
  /** Why: shown in logs and by `held`. */
  readonly reason: string;
}

/** @throws {InvalidOptionError} */
export function checkHold(options: HoldOptions): string {
  checkKeys('hold', options, ['reason']);
  if (typeof options.reason === 'string' && options.reason.trim() !== '') return options.reason.trim();
  throw new InvalidOptionError(
    'reason',
    `hold: reason ${shown(options.reason)} must be text that isn't empty: say why`,
  );
}

/** Who joins or stands in a queue, and leaves it when its election is held. */
export interface Candidate {
  readonly election: string;
  leave(): void;
}

interface Hold {
  /** Null: all elections of the connection. */
  readonly election: string | null;
  readonly reason: string;
}

/**
 * What tells this process not to lead, without a word to the ensemble: an election is held for as long as any hold on it,
 * or on all of them, stands.
 */
export class Holds {
  readonly #holds = new Set<Hold>();
  readonly #listeners = new Set<() => void>();

  /** @returns how to release it; releasing twice is harmless */
  hold(election: string | null, reason: string): Cancel {
    const hold = { election, reason };
    this.#holds.add(hold);
    this.#tell();
    return () => {
      if (this.#holds.delete(hold)) this.#tell();
    };
  }

  /** Why it is held, by the hold that came first; null where it isn't. Of all elections, where none is named. */
  reason(election: string | null): string | null {
    for (const hold of this.#holds) if (hold.election === null || hold.election === election) return hold.reason;
    return null;
  }

  /** Calls the listener after each change. */
  onChange(listener: () => void): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the election isn't held. @throws `signal.reason` when aborted */
  async released(election: string, signal: Stoppable): Promise<void> {
    if (this.reason(election) === null) return;
    await abortable<void>(signal, (resolve) =>
      this.onChange(() => {
        if (this.reason(election) === null) resolve();
      }),
    );
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
