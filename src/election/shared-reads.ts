import type { Host } from './host.js';
import { untilAnswered } from './persistence.js';
import type { NodeData, Session, WatchedReads } from './port.js';

/**
 * Watched reads of which one serves all who ask while it is under way. Thousands of successors may stand behind one leader's session,
 * and each renewal is announced to all of them at once: a read for each would be more than a server can answer, and nobody would
 * get through to join.
 *
 * Who asks because of a change may be given a read that was sent before the change was announced: on one ordered connection a reply
 * that comes behind the announcement shows the change, and the watch that it leaves is younger.
 */
export class SharedReads implements WatchedReads {
  readonly #host: Host;
  readonly #session: Session;
  readonly #underWay = new Map<string, Promise<NodeData | null>>();

  constructor(host: Host, session: Session) {
    this.#host = host;
    this.#session = session;
  }

  /** As {@link Session.read} with a watch, repeated until it is answered or the session is dead. */
  read(path: string): Promise<NodeData | null> {
    const known = this.#underWay.get(path);
    if (known !== undefined) return known;
    const read = untilAnswered(this.#host, this.#session, () => this.#session.read(path, { watch: true }));
    // The first to be told, ahead of all who wait for it: what they ask for next is a new read.
    const forget = () => this.#underWay.delete(path);
    read.then(forget, forget);
    this.#underWay.set(path, read);
    return read;
  }
}
