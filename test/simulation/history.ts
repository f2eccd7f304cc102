/** One thing that happened, in the order in which it did. */
export interface HistoryEntry {
  /** True time in milliseconds since the world began. */
  readonly at: number;
  readonly step: number;
  /** A server's or process's name, `operator`, or whatever a test calls itself. */
  readonly who: string;
  readonly what: string;
  readonly detail?: unknown;
}

/** What happened lately, for whoever has to find out why a run failed; and a hook for those who judge it as it goes. */
export class History {
  readonly #limit: number;
  readonly #listener: ((entry: HistoryEntry) => void) | undefined;
  #entries: HistoryEntry[] = [];

  constructor(limit: number, listener?: (entry: HistoryEntry) => void) {
    this.#limit = limit;
    this.#listener = listener;
  }

  /** The newest entries, oldest first. */
  get entries(): readonly HistoryEntry[] {
    return this.#entries.slice(-this.#limit);
  }

  add(entry: HistoryEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#limit) this.#entries = this.#entries.slice(-this.#limit);
    this.#listener?.(entry);
  }

  /** A line each. */
  toString(): string {
    return this.entries
      .map(({ at, step, who, what, detail }) => {
        const more = detail === undefined ? '' : ` ${JSON.stringify(detail, plain)}`;
        return `${at.toFixed(3).padStart(12)} #${step} ${who}: ${what}${more}`;
      })
      .join('\n');
  }
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
