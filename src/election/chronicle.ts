import { CoordinatorError } from '../errors.js';
import type { Cancel } from '../lease/clock.js';
import { decodeHistory, encodeHistory, type HistoryEntry, withEntries } from './history.js';
import { type Host, sleep } from './host.js';
import type { ElectionPaths } from './names.js';
import { isKind } from './nodes.js';
import type { Membership, Session } from './port.js';

/** How long after a claim its predecessor is written down: by then the hand-over has nothing more to send. */
const DELAY_MS = 250;

/** How soon it is looked whether the connection is back: by somebody who waits for it, and by what may wait. */
const RETRY_MS = 50;
const AWAY_MS = 1_000;

/** How many histories are written at once. Thousands of elections may be won in one go. */
const AT_ONCE = 4;

/** How long one that was begun waits for a connection that broke, in milliseconds. */
const BACK_MS = 10_000;

/** How often one is tried, over others who write it at the same time, and over connections that break. */
const ATTEMPTS = 8;

/** How many elections may wait to be written down: beyond that the oldest is left to whoever leads next. */
const WAITING_MAX = 20_000;

/**
 * Writes histories, beside everything else: later than what it tells of, few at once, a limited number of times, and
 * without a word to those who lead. What it fails to write down is missing, in part: the term record still tells the last
 * two terms, and the next leader adds what that says.
 */
export class Chronicle {
  readonly #host: Host;
  readonly #membership: Membership;
  readonly #waiting = new Map<string, { paths: ElectionPaths; entries: HistoryEntry[] }>();
  #alarm: Cancel | null = null;
  #writing = 0;
  #closed = false;
  #idle: () => void = () => {};

  constructor(host: Host, membership: Membership) {
    this.#host = host;
    this.#membership = membership;
  }

  /** Takes a note for later; none after {@link close}. Never throws. */
  note(paths: ElectionPaths, entries: readonly HistoryEntry[]): void {
    if (this.#closed || entries.length === 0) return;
    const known = this.#waiting.get(paths.history);
    if (known !== undefined) known.entries.push(...entries);
    else this.#waiting.set(paths.history, { paths, entries: [...entries] });
    if (this.#waiting.size > WAITING_MAX) this.#waiting.delete(this.#waiting.keys().next().value as string);
    this.#later(DELAY_MS);
  }

  /**
   * Writes entries down now; where the connection is lost, as soon as it is back within `withinMs`.
   *
   * @returns whether that is confirmed. Never rejects.
   */
  async write(paths: ElectionPaths, entries: readonly HistoryEntry[], withinMs: number): Promise<boolean> {
    const { clock, logger } = this.#host;
    const end = clock.monotonic() + withinMs;
    for (let attempt = 0; attempt < ATTEMPTS; ) {
      const session = this.#connected();
      if (session === null) {
        if (this.#closed || clock.monotonic() >= end) break;
        await sleep(this.#host, RETRY_MS);
        continue;
      }
      attempt += 1;
      try {
        if (await this.#attempt(session, paths, entries)) return true;
      } catch (error) {
        if (error instanceof CoordinatorError && error.retriable) continue;
        logger.warn({ path: paths.history, err: error }, 'the history could not be written');
        return false;
      }
    }
    logger.warn({ path: paths.history }, 'the history could not be written: it lacks an entry');
    return false;
  }

  /** Writes what still waits, for so long at most; what is left then stays unwritten. */
  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    this.#alarm?.();
    this.#alarm = null;
    if (this.#waiting.size === 0 && this.#writing === 0) return;
    let stop: Cancel = () => {};
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
      stop = this.#host.clock.after(withinMs, resolve);
      this.#next();
    });
    stop();
    this.#waiting.clear();
  }

  #later(ms: number): void {
    this.#alarm ??= this.#host.clock.after(ms, () => {
      this.#alarm = null;
      // Nothing can be written now, and nothing is in a hurry.
      if (this.#connected() === null) this.#later(AWAY_MS);
      else this.#next();
    });
  }

  #connected(): Session | null {
    const session = this.#membership.current?.session;
    return session?.state === 'connected' ? session : null;
  }

  #next(): void {
    while (this.#writing < AT_ONCE) {
      const next = this.#waiting.entries().next().value;
      if (next === undefined) break;
      const [path, { paths, entries }] = next;
      this.#waiting.delete(path);
      this.#writing += 1;
      void this.write(paths, entries, BACK_MS).then(() => {
        this.#writing -= 1;
        this.#next();
      });
    }
    if (this.#writing === 0) this.#idle();
  }

  /** @returns whether it is written; false where somebody else was faster */
  async #attempt(session: Session, paths: ElectionPaths, entries: readonly HistoryEntry[]): Promise<boolean> {
    const found = await session.read(paths.history);
    const before = found === null ? [] : decodeHistory(found.data);
    // A newer release's: not ours to write over.
    if (before === null) return true;
    const data = encodeHistory(withEntries(before, entries));
    try {
      if (found === null) await session.create(paths.history, data, 'persistent');
      else await session.write(paths.history, data, found.stat.version);
      return true;
    } catch (error) {
      if (isKind(error, 'bad_version', 'node_exists')) return false;
      // The election was removed meanwhile: its history must not come back.
      if (isKind(error, 'no_node')) return true;
      throw error;
    }
  }
}
