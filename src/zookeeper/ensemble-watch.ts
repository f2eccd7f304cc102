import { type EnsembleHealth, judge, probeServers } from './ensemble.js';
import { CONFIG_PATH, isHierarchical, type Member, parseMembership } from './membership.js';
import type { ServerAddress } from './servers.js';

export interface EnsembleWatchOptions {
  /** The servers to begin with; all there are where the configuration can't be read. */
  readonly servers: readonly ServerAddress[];
  /** Reads a znode through a session; null where there is none, and a rejection where that can't be. */
  readonly readConfig?: (path: string) => Promise<Uint8Array | null>;
  /** From the end of one probe to the start of the next. */
  readonly intervalMs: number;
  /** For each question to each server. */
  readonly timeoutMs: number;
  /** Told after each probe. */
  readonly onHealth?: (health: EnsembleHealth) => void;
}

/**
 * Probes the ensemble again and again, until it is stopped. Keeps no process alive. Who belongs to the ensemble is read
 * beside each probe and holds from the next one on, and while nobody answers that: without a quorum most of all it matters
 * how many there should be.
 */
export class EnsembleWatch {
  readonly #options: EnsembleWatchOptions;
  #members: readonly Member[];
  #notes: readonly string[] = [];
  #reading = false;
  #knows = false;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;
  #health: EnsembleHealth | null = null;

  constructor(options: EnsembleWatchOptions) {
    this.#options = options;
    this.#members = options.servers.map((address) => ({ address, voter: true }));
    void this.#begin();
  }

  /** As of the latest probe; null before the first is done. */
  get health(): EnsembleHealth | null {
    return this.#health;
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #begin(): Promise<void> {
    const read = this.#read();
    // The first probe waits a while for the configuration: two different ensembles in a row would look like a change.
    await Promise.race([read, this.#pause(this.#options.timeoutMs)]);
    await this.#probe();
  }

  async #probe(): Promise<void> {
    if (this.#stopped) return;
    const { intervalMs, timeoutMs, onHealth } = this.#options;
    void this.#read();
    const found = await probeServers(this.#members, timeoutMs);
    if (this.#stopped) return;
    this.#health = judge(found, this.#notes);
    onHealth?.(this.#health);
    await this.#pause(intervalMs);
    void this.#probe();
  }

  /** Never more than one at a time: without a server to answer it, it waits. */
  async #read(): Promise<void> {
    const { readConfig, servers } = this.#options;
    if (readConfig === undefined || this.#reading) return;
    this.#reading = true;
    try {
      const data = await readConfig(CONFIG_PATH);
      const text = data === null ? '' : new TextDecoder().decode(data);
      const members = parseMembership(text, servers);
      if (members !== null) this.#members = members;
      this.#notes = isHierarchical(text) ? [HIERARCHICAL] : [];
      this.#knows = true;
    } catch (error) {
      const why = (error as Error).message;
      if (!this.#knows) this.#notes = [`${CONFIG_PATH} could not be read (${why}): ${PRESUMED}`];
    } finally {
      this.#reading = false;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, ms).unref();
    });
  }
}

const PRESUMED = 'the servers of the connect string are taken for all voters';

const HIERARCHICAL =
  'the ensemble weighs or groups its votes: a plain majority of its servers is counted here, which is not its rule';
