import type { Host } from './host.js';
import { untilAnswered } from './persistence.js';
import type { NodeChange, NodeListener, Session } from './port.js';

/** What becomes of our own node. */
export interface OwnNodeNews {
  /** Deleted, or no longer this session's. */
  gone(): void;
  /**
   * A new connection has taken over and the watch did not come along. It is being armed again: what is
   * sent from now on is answered after the answer to that.
   */
  unsure(): void;
  /** It was still there when it was asked for after {@link unsure}. */
  sure(): void;
}

const DEAF: OwnNodeNews = { gone() {}, unsure() {}, sure() {} };

/** Tells of the deletion of our node, from before the watch on it was armed: no deletion can fall between. */
export class OwnNodeWatch implements NodeListener {
  readonly path: string;
  readonly #host: Host;
  readonly #session: Session;
  #gone = false;
  #others = false;
  #cancelled = false;
  /** How often the watch was lost; only the answer to the newest question tells that it is armed. */
  #losses = 0;
  #unsure = false;
  #news = DEAF;

  constructor(host: Host, session: Session, path: string) {
    this.path = path;
    this.#host = host;
    this.#session = session;
    session.listen(path, this);
  }

  changed(_path: string, change: NodeChange): void {
    if (change === 'deleted') this.#tellGone();
    // The node has no children and never will: this can only mean that its watch was lost.
    else if (change === 'children') this.#armAgain();
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Whether what stands there was made by somebody else under its name, when it was last asked for: not ours to take away. */
  get others(): boolean {
    return this.#others;
  }

  /** Whether the watch was lost, and the node has not been seen since: nothing would tell that it goes. */
  get unsure(): boolean {
    return this.#unsure;
  }

  /** One listener at a time: the campaign first, then the term. */
  listen(news: OwnNodeNews): void {
    this.#news = news;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#session.unlisten(this.path, this);
  }

  /**
   * Watches by the node's children: an ephemeral node has none, so the watch fires on its deletion
   * alone, and never has to be renewed.
   *
   * @returns the node's czxid; null when it is gone, or not this session's
   */
  async arm(): Promise<bigint | null> {
    const own = await untilAnswered(this.#host, this.#session, () =>
      this.#session.children(this.path, { watch: true }),
    );
    this.#others = own !== null && own.stat.owner !== this.#session.id;
    return own?.stat.owner === this.#session.id ? own.stat.czxid : null;
  }

  #armAgain(): void {
    this.#losses += 1;
    this.#unsure = true;
    const loss = this.#losses;
    this.arm().then(
      (czxid) => {
        if (czxid === null) this.#tellGone();
        else if (loss === this.#losses) this.#tellSure();
      },
      () => {},
    );
    this.#news.unsure();
  }

  #tellSure(): void {
    this.#unsure = false;
    if (!this.#cancelled) this.#news.sure();
  }

  #tellGone(): void {
    this.#gone = true;
    if (!this.#cancelled) this.#news.gone();
  }
}
