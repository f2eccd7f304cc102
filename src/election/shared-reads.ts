import type { Host } from './host.js';
import { untilAnswered } from './persistence.js';
import type { NodeChange, NodeData, NodeListener, Session, WatchedReads, Watcher } from './port.js';

/** A path that somebody watches. */
interface Watched {
  readonly watchers: Set<Watcher>;
  /** The read that is under way. */
  read: Promise<NodeData | null> | null;
}

/**
 * Watched reads of which one serves all who ask while it is under way. Thousands of successors may stand behind one leader's session,
 * and each renewal is announced to all of them at once: a read for each would be more than a server can answer, and nobody would
 * get through to join.
 *
 * Who asks because of a change may be given a read that was sent before the change was announced: on one ordered connection a reply
 * that comes behind the announcement shows the change, and the watch that it leaves is younger.
 */
export class SharedReads implements WatchedReads, NodeListener {
  readonly #host: Host;
  readonly #session: Session;
  readonly #watched = new Map<string, Watched>();

  constructor(host: Host, session: Session) {
    this.#host = host;
    this.#session = session;
  }

  watch(path: string, watcher: Watcher): void {
    this.#at(path).watchers.add(watcher);
  }

  unwatch(path: string, watcher: Watcher): void {
    const watched = this.#watched.get(path);
    if (watched === undefined || !watched.watchers.delete(watcher) || watched.watchers.size > 0) return;
    this.#session.unlisten(path, this);
    this.#watched.delete(path);
  }

  /** As {@link Session.read} with a watch, repeated until it is answered or the session is dead. For those who {@link watch}. */
  read(path: string): Promise<NodeData | null> {
    const watched = this.#at(path);
    if (watched.read === null) {
      const read = untilAnswered(this.#host, this.#session, () => this.#session.read(path, { watch: true }));
      watched.read = read;
      // The first to be told, ahead of all who wait for it: what they ask for next is a new read.
      const forget = (): void => {
        watched.read = null;
      };
      read.then(forget, forget);
    }
    return watched.read;
  }

  changed(path: string, change: NodeChange): void {
    const watchers = this.#watched.get(path)?.watchers ?? new Set();
    for (const watcher of [...watchers]) if (watchers.has(watcher)) watcher.watchedChanged(path, change === 'deleted');
  }

  #at(path: string): Watched {
    const known = this.#watched.get(path);
    if (known !== undefined) return known;
    const watched: Watched = { watchers: new Set(), read: null };
    this.#watched.set(path, watched);
    this.#session.listen(path, this);
    return watched;
  }
}
