import type { Turns } from '../election/turns.js';
import { orAborted } from '../election/waiting.js';
import type { Election, ElectionView, Logger } from '../index.js';
import { unavailable } from './problem.js';

type Listener = (view: ElectionView) => void;

interface Observed {
  readonly listeners: Set<Listener>;
  readonly stop: AbortController;
  view: ElectionView | null;
  /** Of the latest change that a stream tells of; never the same twice in a process. */
  change: number;
  linger: NodeJS.Timeout | null;
}

/** A reader that comes back soon finds the observation still running. */
const LINGER_MS = 5_000;
/** A view that is read on request may be this old: many who ask at once cost one read. */
const FRESH_MS = 1_000;
const READ_TIMEOUT_MS = 2_000;

/** What is known of elections: one observation each, however many look on. */
export class Observatory {
  /** Without a candidacy. Null while there has been no connection yet. */
  readonly #election: (name: string) => Election | null;
  readonly #logger: Logger;
  readonly #reads: Turns;
  readonly #observed = new Map<string, Observed>();
  readonly #reading = new Map<string, Promise<ElectionView>>();
  #changes = 0;
  #closed = false;

  constructor(election: (name: string) => Election | null, reads: Turns, logger: Logger) {
    this.#election = election;
    this.#reads = reads;
    this.#logger = logger;
  }

  get elections(): Iterable<string> {
    return this.#observed.keys();
  }

  observes(name: string): boolean {
    return this.#observed.has(name);
  }

  latest(name: string): ElectionView | null {
    return this.#observed.get(name)?.view ?? null;
  }

  /** Which change was the latest; 0 where nobody looks. */
  change(name: string): number {
    return this.#observed.get(name)?.change ?? 0;
  }

  /** Something that streams tell of has changed beside the view. */
  stir(name: string): void {
    const observed = this.#observed.get(name);
    if (observed === undefined) return;
    this.#changes += 1;
    observed.change = this.#changes;
  }

  /** Calls the listener for each new view; not for the one that is there already. @returns how to stop that */
  watch(name: string, listener: Listener): () => void {
    const observed = this.#observed.get(name) ?? this.#start(name);
    observed.listeners.add(listener);
    if (observed.linger !== null) clearTimeout(observed.linger);
    observed.linger = null;
    return () => {
      observed.listeners.delete(listener);
      if (observed.listeners.size > 0 || observed.linger !== null) return;
      observed.linger = setTimeout(() => {
        observed.stop.abort();
        this.#observed.delete(name);
      }, LINGER_MS).unref();
    };
  }

  /** A view that is not older than a second, or the newest there is where ZooKeeper doesn't answer. @throws {Problem} */
  async read(name: string): Promise<ElectionView> {
    const known = this.latest(name);
    if (known !== null && known.ageMs < FRESH_MS) return known;
    try {
      return await this.#readOnce(name);
    } catch {
      const later = this.latest(name);
      if (later !== null) return later;
      throw unavailable('zookeeper_away', 'no server of the ensemble answers, and no view is at hand');
    }
  }

  close(): void {
    this.#closed = true;
    for (const { stop, linger } of this.#observed.values()) {
      if (linger !== null) clearTimeout(linger);
      stop.abort();
    }
    this.#observed.clear();
  }

  #readOnce(name: string): Promise<ElectionView> {
    const under = this.#reading.get(name);
    if (under !== undefined) return under;
    const election = this.#election(name);
    if (election === null) return Promise.reject(new Error('not connected yet'));
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    const turn = this.#reads.take(() => election.current({ signal }));
    const reading = orAborted(turn, signal).finally(() => this.#reading.delete(name));
    this.#reading.set(name, reading);
    return reading;
  }

  #start(name: string): Observed {
    const observed: Observed = {
      listeners: new Set(),
      stop: new AbortController(),
      view: null,
      change: 0,
      linger: null,
    };
    this.#observed.set(name, observed);
    this.stir(name);
    void this.#run(name, observed);
    return observed;
  }

  async #run(name: string, observed: Observed): Promise<void> {
    const { signal } = observed.stop;
    while (!signal.aborted && !this.#closed) {
      try {
        const election = this.#election(name);
        if (election !== null) {
          for await (const view of election.observe({ signal })) {
            observed.view = view;
            this.stir(name);
            for (const listener of [...observed.listeners]) listener(view);
          }
        }
      } catch (error) {
        if (signal.aborted || this.#closed) return;
        this.#logger.warn({ election: name, err: error }, 'an election could not be observed; trying again');
      }
      await new Promise((resolve) => setTimeout(resolve, 500).unref());
    }
  }
}
