import { type Host, sleep } from '../election/host.js';
import { sessionsPath } from '../election/names.js';
import { sessionLives } from '../election/persistence.js';
import type { Attachment, Driver, Membership, Session, SessionLifeline, SessionState } from '../election/port.js';
import { SharedReads } from '../election/shared-reads.js';
import type { Stoppable } from '../election/stop.js';
import { Turns } from '../election/turns.js';
import { orAborted } from '../election/waiting.js';
import { ClosedError, TenureError } from '../errors.js';
import { type Backoff, backoffMs } from '../lease/backoff.js';
import type { Bounds } from '../lease/disturbance.js';
import { defaultLeaseMs, LEASE_SHARE_MAX, RENEWALS_PER_TIMEOUT } from '../lease/lease.js';
import { anyOf } from '../signals.js';
import { SessionRenewals } from './renewals.js';

export interface SessionsOptions {
  /** Root of all elections, with the chroot before it. */
  readonly root: string;
  readonly sessionTimeoutMs: number;
  readonly leaseMs: number | undefined;
  /** Null: derived from the negotiated timeout. */
  readonly pauseThresholdMs: number | undefined;
  readonly clockJumpThresholdMs: number;
  /** Who ends a session when this process dies; null where nobody does. */
  readonly lifeline?: { session(session: Session): SessionLifeline | null } | null | undefined;
}

const REOPEN: Backoff = { baseMs: 100, capMs: 5_000 };

/** How many candidacies of one session may be joining, claiming or leaving at the same time. */
const TURNS = { least: 64, most: 512 };

/** A turn may take this share of a session timeout, half the time from one renewal to the next: a renewal waits about as long as a turn, which is mostly one round trip. */
const TURNS_PER_TIMEOUT = 2 * RENEWALS_PER_TIMEOUT;

/** A pause shorter than this is ordinary scheduling. */
const LEAST_PAUSE_MS = 200;

/**
 * The one session that all elections of a `connect()` share, and its successor after each expiry.
 * A session is never resumed by a new handle: a new session, new nodes, new tokens.
 */
export class Sessions implements Membership {
  readonly #driver: Driver;
  readonly #host: Host;
  readonly #options: SessionsOptions;
  readonly #closing = new AbortController();
  #current: Attachment | null = null;
  #opening: Promise<Attachment> | null = null;

  constructor(driver: Driver, host: Host, options: SessionsOptions) {
    this.#driver = driver;
    this.#host = host;
    this.#options = options;
  }

  /** The first session, in one attempt within the connect deadline: `connect()` reports its failure to the caller. */
  async start(signal?: AbortSignal): Promise<void> {
    const stop = anyOf([signal, this.#closing.signal]);
    this.#adopt(await this.#driver.open(stop));
  }

  get current(): Attachment | null {
    return this.#current;
  }

  attach(signal?: Stoppable): Promise<Attachment> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    if (this.#current !== null && sessionLives(this.#current.session)) return Promise.resolve(this.#current);
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = null;
    });
    return orAborted(this.#opening, signal);
  }

  /** Ends the session. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort(new ClosedError('this connection has been closed: make a new one with connect()'));
    await this.#opening?.catch(() => {});
    const last = this.#current;
    await last?.session.close();
    // Last of all: whatever ends this process before leaves the session to be ended.
    last?.lifeline?.over();
  }

  async #reopen(): Promise<Attachment> {
    const { signal } = this.#closing;
    for (let attempt = 0; ; attempt++) {
      try {
        return this.#adopt(await this.#driver.open(signal));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof TenureError && !error.retriable) throw error;
        this.#host.emit('session_failed', { error: error as Error, attempt });
        await sleep(this.#host, backoffMs(REOPEN, attempt, this.#host.random), signal);
      }
    }
  }

  #adopt(session: Session): Attachment {
    const { root, sessionTimeoutMs, pauseThresholdMs, clockJumpThresholdMs } = this.#options;
    const { timeoutMs } = session;
    const leaseMs = this.#leaseMs(timeoutMs);
    const bounds: Bounds = {
      pauseMs: pauseThresholdMs ?? Math.max(LEAST_PAUSE_MS, timeoutMs / 10),
      jumpMs: clockJumpThresholdMs,
    };
    const lifeline = this.#options.lifeline?.session(session) ?? null;
    const renewals = new SessionRenewals(this.#host, session, sessionsPath(root), bounds, lifeline);
    const attachment: Attachment = {
      session,
      renewals,
      lifeline,
      turns: new Turns({ clock: this.#host.clock, ...TURNS, turnMs: timeoutMs / TURNS_PER_TIMEOUT }),
      reads: new SharedReads(this.#host, session),
      onlookers: new Set(),
      leaseMs,
    };
    this.#current = attachment;
    this.#host.emit('session_opened', { sessionId: session.id, timeoutMs, requestedMs: sessionTimeoutMs, leaseMs });
    session.onState((state) => {
      if (!sessionLives(session) && this.#current === attachment) this.#current = null;
      if (session.state === 'expired') lifeline?.over();
      this.#host.emit('session_state', { sessionId: session.id, state });
      this.#tell(attachment, state);
    });
    return attachment;
  }

  #tell({ onlookers }: Attachment, state: SessionState): void {
    for (const onlooker of [...onlookers]) {
      if (!onlookers.has(onlooker)) continue;
      try {
        onlooker.stateChanged(state);
      } catch (error) {
        this.#host.logger.error({ err: error, state }, 'somebody on this session failed at its change of state');
      }
    }
  }

  /** What was asked for, as far as the timeout that the ensemble granted can carry it. */
  #leaseMs(timeoutMs: number): number {
    const asked = this.#options.leaseMs;
    return asked === undefined ? defaultLeaseMs(timeoutMs) : Math.min(asked, Math.floor(timeoutMs * LEASE_SHARE_MAX));
  }
}
