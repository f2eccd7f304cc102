import type { Cancel } from '../lease/clock.js';
import { decodeCandidate, printable } from './candidate.js';
import { type Host, sleep } from './host.js';
import type { ElectionPaths } from './names.js';
import { sessionLives, untilAnswered } from './persistence.js';
import type { Session } from './port.js';
import { inOrder } from './queue.js';
import { readRecord } from './reading.js';
import { type CandidateView, type ElectionView, viewOf } from './view.js';
import { abortable } from './waiting.js';

/**
 * Who looks on lets those go first who stand in the queue, maybe on the same session: what is sent ahead of a claim delays it. And a
 * hand-over is four changes at once.
 */
const GATHER_MS = 10;

/** A candidate, and the czxid of its node where somebody owns that. */
interface Known {
  readonly view: CandidateView;
  readonly czxid: bigint | null;
}

/** Watches one election through one session, without being a candidate. */
export class Observation {
  readonly #host: Host;
  readonly #session: Session;
  readonly #election: string;
  readonly #paths: ElectionPaths;
  /** What a candidate's node says doesn't change: each is read once. */
  #known = new Map<string, Known>();
  #cancels: Cancel[] = [];
  #dirty = true;
  #wake: () => void = () => {};

  constructor(host: Host, session: Session, election: string, paths: ElectionPaths) {
    this.#host = host;
    this.#session = session;
    this.#election = election;
    this.#paths = paths;
  }

  /**
   * The present view, then the newest one after each change, until the session is dead.
   *
   * @throws `signal.reason` when aborted
   */
  async *views(signal?: AbortSignal): AsyncGenerator<ElectionView, void> {
    const stir = () => {
      this.#dirty = true;
      this.#wake();
    };
    this.#cancels = [
      this.#session.onNode(this.#paths.queue, stir),
      this.#session.onNode(this.#paths.term, stir),
      this.#session.onState(stir),
    ];
    try {
      // A new session may have been given a server that lags; what it has not seen yet it would show as absent.
      await untilAnswered(this.#host, this.#session, () => this.#session.sync('/'), signal);
      let shown = '';
      while (sessionLives(this.#session)) {
        signal?.throwIfAborted();
        this.#dirty = false;
        const view = await this.read(true);
        const looks = fingerprint(view);
        if (looks !== shown) {
          shown = looks;
          yield view;
        }
        // Changes that came while the consumer was busy are one change.
        if (!this.#dirty) {
          await abortable<void>(signal, (resolve) => {
            this.#wake = resolve;
            return () => {};
          });
        }
        await sleep(this.#host, GATHER_MS, signal);
      }
    } finally {
      for (const cancel of this.#cancels) cancel();
    }
  }

  /** Reads once; `watch` leaves the watches that tell of the next change. */
  async read(watch: boolean): Promise<ElectionView> {
    const { queue, term } = this.#paths;
    const [children, record] = await Promise.all([
      this.#children(queue, watch),
      readRecord(this.#host, this.#session, term, watch),
    ]);
    // Where nothing is there yet, a watch for its creation.
    if (watch && record.version === -1) {
      const appeared = await untilAnswered(this.#host, this.#session, () => this.#session.stat(term, { watch }));
      if (appeared !== null) return this.read(watch);
    }
    const nodes = inOrder(children);
    const candidates = await Promise.all(nodes.map((node) => this.#candidate(node)));
    const present = candidates.filter((candidate) => candidate !== null);
    this.#known = new Map(present.map((candidate) => [candidate.view.node, candidate]));
    const readAt = this.#host.clock.monotonic();
    return viewOf(
      {
        election: this.#election,
        record: record.record,
        version: record.version,
        candidates: present.map((candidate) => candidate.view),
        firstCzxid: present[0]?.czxid ?? null,
      },
      () => this.#host.clock.monotonic() - readAt,
    );
  }

  async #children(queue: string, watch: boolean): Promise<readonly string[]> {
    for (;;) {
      const found = await untilAnswered(this.#host, this.#session, () => this.#session.children(queue, { watch }));
      if (found !== null) return found.names;
      const appeared = watch
        ? await untilAnswered(this.#host, this.#session, () => this.#session.stat(queue, { watch }))
        : null;
      if (appeared === null) return [];
    }
  }

  /** Null when it has left the queue since we listed it. */
  async #candidate(node: string): Promise<Known | null> {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const path = `${this.#paths.queue}/${node}`;
    const found = await untilAnswered(this.#host, this.#session, () => this.#session.read(path));
    if (found === null) return null;
    const data = decodeCandidate(found.data);
    const { owner, czxid } = found.stat;
    return { view: { node, id: data?.id ?? printable(found.data), data }, czxid: owner === null ? null : czxid };
  }
}

/** Equal for views between which nothing has changed. */
function fingerprint(view: ElectionView): string {
  const { leader, version, paused, state, candidates } = view;
  return JSON.stringify([
    state,
    leader?.node,
    leader?.foreign,
    version,
    paused,
    candidates.map((candidate) => candidate.node),
  ]);
}
