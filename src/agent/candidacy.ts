import { randomBytes } from 'node:crypto';
import {
  type Election,
  LeadershipLostError,
  type Logger,
  TenureError,
  type TenureEvents,
  type Term,
} from '../index.js';
import {
  type CandidacyEvent,
  type CandidacyState,
  candidacyStep,
  type Ending,
  endsAt,
  grantableMs,
  joiningState,
  type Standing,
  standing,
  type TermFacts,
} from './candidacy-state.js';
import { Secret } from './secret.js';

export interface CandidacyOptions {
  readonly election: Election;
  readonly hold: 'ttl' | 'stream';
  readonly ttlMs: number;
  /** The longest that a client may act on one answer. */
  readonly deadlineMs: number;
  readonly logger: Logger;
  /** Told after each change that its client can see. */
  readonly onChange: (candidacy: Candidacy) => void;
  readonly onEnd: (candidacy: Candidacy, reason: Ending) => void;
}

export interface Answer extends Standing {
  readonly election: string;
  readonly id: string;
  readonly version: number;
}

/** One candidacy that a client of the sidecar holds: the edges of `candidacy-state.ts`. */
export class Candidacy {
  readonly election: string;
  readonly id: string;
  readonly key = randomBytes(18).toString('base64url');
  /** Resolves when it is out of the queue, or its session is dead. */
  readonly gone: Promise<void>;
  readonly #options: CandidacyOptions;
  readonly #secret = new Secret(this.key);
  readonly #stop = new AbortController();
  #state: CandidacyState;
  #term: Term | null = null;
  #settle: () => void = () => {};
  #alarm: { at: number; timer: NodeJS.Timeout } | null = null;
  #doubt: string | null = null;
  #shown = '';
  #version = 0;
  #finishing = false;

  constructor(options: CandidacyOptions) {
    this.#options = options;
    this.election = options.election.name;
    this.id = options.election.id;
    this.#state = joiningState(options.hold, options.ttlMs, performance.now());
    this.gone = this.#campaign();
    this.#arm();
  }

  /** In constant time. */
  opens(key: string | undefined): boolean {
    return this.#secret.matches(key);
  }

  get ended(): boolean {
    return this.#state.phase.name === 'ended';
  }

  /** How long until it ends if its client stays silent, in milliseconds; null while a stream keeps it. */
  get endsInMs(): number | null {
    const at = this.#endsAt();
    return Number.isFinite(at) ? Math.max(0, at - performance.now()) : null;
  }

  /** Whether its client may still be at work for a term: until it says that it has settled. */
  get working(): boolean {
    return this.#state.phase.name === 'term';
  }

  /** What the lease of its term still has, in milliseconds. */
  get remainingMs(): number {
    return this.#term?.remainingMs() ?? 0;
  }

  /** As it is at this moment, by the clocks. It extends no deadline. */
  get answer(): Answer {
    const mostMs = Math.min(this.#options.deadlineMs, grantableMs(this.#state, performance.now()));
    const now = standing(this.#state, this.#facts(), this.#options.election.held !== null, mostMs);
    const looks = JSON.stringify([now.state, now.term, now.position, now.reason]);
    if (looks !== this.#shown) {
      this.#shown = looks;
      this.#version += 1;
    }
    return { election: this.election, id: this.id, ...now, version: this.#version };
  }

  /** The client asks: what it is answered is the deadline up to which it may act. */
  ask(how: { put: boolean; ttlMs?: number | undefined; settled?: boolean | undefined }): Answer {
    this.#tell({ type: 'asked', put: how.put, ttlMs: how.ttlMs });
    if (how.settled) this.#settled();
    const { answer } = this;
    if (answer.leading) this.#tell({ type: 'granted', mayActMs: answer.mayActMs });
    return answer;
  }

  /** @returns what to call when the stream is closed */
  streaming(): () => void {
    this.#tell({ type: 'stream_opened' });
    return () => this.#tell({ type: 'stream_closed' });
  }

  /** News of the queue, from the connection's events. */
  on(event: QueueNews): void {
    switch (event.type) {
      case 'campaign_started':
        this.#term = null;
        this.#tell({ type: 'campaigning' });
        break;
      case 'joined':
      case 'position':
        this.#tell({ type: 'queued', ahead: event.ahead });
        break;
      case 'patient':
        this.#tell({ type: 'patient' });
        break;
      case 'suspect':
        this.#doubt = event.reason;
        return;
      case 'record_seen':
        if (event.paused === null) return;
        this.#tell({ type: 'paused', paused: event.paused });
    }
    this.changed();
  }

  /** Ends it although its client may be at work: nothing is announced, so whoever is next is patient. */
  abandon(reason: Ending): void {
    if (this.working) this.#term?.abandon();
    this.end(reason);
  }

  /** Gives it up for good. Its client has stopped, or was told a deadline that is over: so the end is announced. */
  end(reason: Ending): void {
    if (this.ended) return;
    const { answer } = this;
    this.#tell({ type: 'ended', reason });
    this.#disarm();
    this.#stop.abort(new Error(`the candidacy has ended: ${reason}`));
    this.#settle();
    if (reason === 'expired') {
      const { election, id } = this;
      this.#options.logger.warn(
        { election, candidateId: id, state: answer.state },
        'a client is gone: its candidacy ends',
      );
    }
    this.#options.onEnd(this, reason);
  }

  /** Ends it as soon as its client is not at work: now, or once it has settled. A leader is asked to stop. */
  finish(): void {
    this.#finishing = true;
    if (!this.working) this.end('shutdown');
    else this.#term?.drain('closed');
  }

  changed(): void {
    if (!this.ended) this.#options.onChange(this);
  }

  async #campaign(): Promise<void> {
    // Joining again is tried where the client asks for it after a failure.
    for (;;) {
      try {
        await this.#options.election.lead((term) => this.#work(term), {
          signal: this.#stop.signal,
          again: true,
          cooldownMs: 0,
        });
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        const { election, id } = this;
        this.#options.logger.error({ election, candidateId: id, err: error }, 'a candidacy has failed');
        this.#tell({ type: 'failed', reason: error instanceof TenureError ? error.code.toLowerCase() : 'failed' });
        const settled = this.#untilSettled();
        this.changed();
        await settled;
        if (this.#stop.signal.aborted) return;
      }
    }
  }

  /** Settles when the client has said that its work has stopped, and not before. */
  #work(term: Term): Promise<void> {
    this.#term = term;
    this.#tell({ type: 'term' });
    const settled = this.#untilSettled();
    const changed = () => {
      this.#arm();
      this.changed();
    };
    for (const state of ['suspect', 'leading', 'draining', 'lost'] as const) term.on(state, changed);
    changed();
    return settled;
  }

  #untilSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Means something only when a term is to be given up, is over, or never came about. */
  #settled(): void {
    const { phase } = this.#state;
    if (phase.name === 'failed' || (phase.name === 'term' && this.#term?.signal.aborted)) {
      if (this.#finishing) this.end('shutdown');
      else this.#settle();
    }
  }

  #facts(): TermFacts | null {
    const term = this.#term;
    if (term === null) return null;
    let mayAct = true;
    try {
      term.assert();
    } catch {
      mayAct = false;
    }
    const loss: unknown = term.signal.reason;
    return {
      number: term.number,
      token: term.token,
      previous: term.previous,
      state: term.state,
      mayAct,
      remainingMs: term.remainingMs(),
      reason: loss instanceof LeadershipLostError ? loss.reason : term.state === 'suspect' ? this.#doubt : null,
    };
  }

  #tell(event: CandidacyEvent): void {
    this.#state = candidacyStep(this.#state, event, performance.now());
    this.#arm();
  }

  #endsAt(): number {
    const leads = this.#term !== null && !this.#term.signal.aborted;
    return endsAt(this.#state, leads, this.#options.deadlineMs);
  }

  /** One timer, set again only for an earlier moment: what moves the end away costs nothing, and the timer finds that out. */
  #arm(): void {
    const at = this.#endsAt();
    if (!Number.isFinite(at) || (this.#alarm !== null && this.#alarm.at <= at)) return;
    this.#disarm();
    const ring = () => {
      this.#alarm = null;
      if (this.#endsAt() <= performance.now()) this.end('expired');
      else this.#arm();
    };
    this.#alarm = { at, timer: setTimeout(ring, Math.max(1, Math.ceil(at - performance.now()))) };
  }

  #disarm(): void {
    if (this.#alarm !== null) clearTimeout(this.#alarm.timer);
    this.#alarm = null;
  }
}

export type QueueNews =
  | ({ readonly type: 'campaign_started' } & TenureEvents['campaign_started'])
  | ({ readonly type: 'joined' } & TenureEvents['joined'])
  | ({ readonly type: 'position' } & TenureEvents['position'])
  | ({ readonly type: 'patient' } & TenureEvents['patient'])
  | ({ readonly type: 'suspect' } & TenureEvents['suspect'])
  | ({ readonly type: 'record_seen' } & TenureEvents['record_seen']);
