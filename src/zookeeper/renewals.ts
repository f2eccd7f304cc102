import type { Host } from '../election/host.js';
import { createBelow } from '../election/nodes.js';
import { untilAnswered } from '../election/persistence.js';
import type { Holder, RenewalNews, Renewals, Session, SessionLifeline } from '../election/port.js';
import { CoordinatorError } from '../errors.js';
import { type Cancel, instant } from '../lease/clock.js';
import { type Bounds, disturbances, type Reading, reading } from '../lease/disturbance.js';
import { RENEWALS_PER_TIMEOUT } from '../lease/lease.js';

/** The session node's data while the session lives. The lifeline overwrites it with a mark when the session's terms are over. */
const ALIVE = new TextEncoder().encode('{"v":1}');

/** With this many renewals unanswered there is nothing to learn from one more. */
const MAX_IN_FLIGHT = 16;

/**
 * One write through the quorum every T / 10, to a node of this session's own, for as long as any
 * term is held: the only proof that the session is alive. Twice as often it looks at the clocks,
 * to notice that this process was paused or its machine's clocks were moved.
 */
export class SessionRenewals implements Renewals {
  readonly #host: Host;
  readonly #session: Session;
  readonly #parent: string;
  readonly #bounds: Bounds;
  readonly #lifeline: SessionLifeline | null;
  readonly tickMs: number;
  readonly #holders = new Set<Holder>();
  #node: Promise<string> | null = null;
  #path: string | null = null;
  #inFlight = 0;
  #stopTicking: Cancel | null = null;
  #last: Reading;

  /** `parent`: the path below which session nodes lie. */
  constructor(host: Host, session: Session, parent: string, bounds: Bounds, lifeline: SessionLifeline | null) {
    this.#host = host;
    this.#session = session;
    this.#parent = parent;
    this.#bounds = bounds;
    this.#lifeline = lifeline;
    this.tickMs = session.timeoutMs / RENEWALS_PER_TIMEOUT / 2;
    this.#last = reading(host.clock);
  }

  prepare(): Promise<string> {
    this.#node ??= this.#create().catch((error: unknown) => {
      this.#node = null;
      throw error;
    });
    return this.#node;
  }

  get node(): string | null {
    return this.#path === null ? null : this.#path.slice(this.#parent.length + 1);
  }

  hold(holder: Holder): void {
    this.#holders.add(holder);
    if (this.#stopTicking === null) this.#startTicking();
  }

  release(holder: Holder): void {
    this.#holders.delete(holder);
    if (this.#holders.size > 0 || this.#stopTicking === null) return;
    this.#stopTicking();
    this.#stopTicking = null;
    // A pause that has cost the last term is told all the same, whichever timer woke up first.
    this.#look();
  }

  renewNow(): void {
    const path = this.#path;
    if (path === null || this.#inFlight >= MAX_IN_FLIGHT) return;
    const sentAt = instant(this.#host.clock);
    this.#inFlight += 1;
    this.#session.write(path, ALIVE, -1).then(
      () => {
        this.#inFlight -= 1;
        const now = instant(this.#host.clock);
        this.#host.emit('renewal_confirmed', { roundTripMs: now.monotonic - sentAt.monotonic });
        // Under a new name since: this reply speaks of a node that no record names any more.
        if (this.#path === path) this.#tell({ type: 'confirmed', sentAt, now });
      },
      (error: unknown) => {
        this.#inFlight -= 1;
        const kind = error instanceof CoordinatorError ? error.kind : 'unknown';
        this.#host.emit('renewal_failed', { kind });
        if (kind === 'no_node' && this.#path === path) this.#nodeGone();
        else this.#tell({ type: 'failed', kind });
      },
    );
  }

  /**
   * A fresh name each time, never one that was in use: a successor that sees a session node go may
   * conclude that no renewal will ever again be written to it.
   */
  #create(): Promise<string> {
    return untilAnswered(this.#host, this.#session, async () => {
      const name = this.#host.uuid();
      this.#path = await createBelow(this.#session, this.#parent, `${this.#parent}/${name}`, ALIVE, 'ephemeral');
      this.#lifeline?.node(this.#path);
      return name;
    });
  }

  #nodeGone(): void {
    this.#path = null;
    this.#node = null;
    this.#lifeline?.node(null);
    this.#tell({ type: 'gone' });
  }

  #startTicking(): void {
    const { clock } = this.#host;
    this.#last = reading(clock);
    let turn = 0;
    const tick = () => {
      this.#stopTicking = clock.after(this.tickMs, tick);
      this.#look();
      turn += 1;
      if (turn % 2 === 0) this.renewNow();
      for (const holder of this.#holders) holder.tick(this.tickMs);
    };
    this.#stopTicking = clock.after(this.tickMs, tick);
  }

  #look(): void {
    const now = reading(this.#host.clock);
    const found = disturbances(this.#last, now, this.tickMs, this.#bounds);
    this.#last = now;
    for (const disturbance of found) {
      this.#host.emit('disturbed', { disturbance });
      this.#tell({ type: 'disturbed', disturbance });
    }
  }

  #tell(news: RenewalNews): void {
    for (const holder of [...this.#holders]) if (this.#holders.has(holder)) holder.renewal(news);
  }
}
