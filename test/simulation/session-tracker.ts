interface Tracked {
  readonly timeoutMs: number;
  expiresAt: number;
  closing: boolean;
  /** The server that the session is attached to: writes by way of another are refused. */
  owner: number;
}

/**
 * The leader's book of sessions. Only it decides that one has expired; deadlines are rounded up to
 * the next whole tick, as ZooKeeper's ExpiryQueue does.
 */
export class SessionTracker {
  readonly #tickMs: number;
  readonly #sessions = new Map<string, Tracked>();

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  track(session: string, timeoutMs: number, owner: number, now: number): void {
    this.#sessions.set(session, { timeoutMs, expiresAt: this.#deadline(timeoutMs, now), closing: false, owner });
  }

  forget(session: string): void {
    this.#sessions.delete(session);
  }

  /** @returns whether the session is alive, and may be believed for another timeout */
  touch(session: string, now: number): boolean {
    const tracked = this.#sessions.get(session);
    if (tracked === undefined || tracked.closing) return false;
    tracked.expiresAt = Math.max(tracked.expiresAt, this.#deadline(tracked.timeoutMs, now));
    return true;
  }

  /** A client has come back by way of this server. @returns its timeout, or null if the session is over */
  attach(session: string, owner: number, now: number): number | null {
    const tracked = this.#sessions.get(session);
    if (tracked === undefined || !this.touch(session, now)) return null;
    tracked.owner = owner;
    return tracked.timeoutMs;
  }

  /** What a write on behalf of this session by way of this server meets. */
  check(session: string, via: number): 'alive' | 'over' | 'moved' {
    const tracked = this.#sessions.get(session);
    if (tracked === undefined || tracked.closing) return 'over';
    // Not known before its first attachment under this leader: -1.
    if (tracked.owner !== -1 && tracked.owner !== via) return 'moved';
    tracked.owner = via;
    return 'alive';
  }

  startClosing(session: string): void {
    const tracked = this.#sessions.get(session);
    if (tracked !== undefined) tracked.closing = true;
  }

  /** Sessions whose time is over; each is named once. */
  takeExpired(now: number): string[] {
    const expired: string[] = [];
    for (const [session, tracked] of this.#sessions) {
      if (tracked.closing || tracked.expiresAt > now) continue;
      tracked.closing = true;
      expired.push(session);
    }
    return expired;
  }

  #deadline(timeoutMs: number, now: number): number {
    return (Math.floor((now + timeoutMs) / this.#tickMs) + 1) * this.#tickMs;
  }
}
