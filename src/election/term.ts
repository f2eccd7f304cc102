import { LeadershipLostError, type LossReason, NotLeadingError, TenureError } from '../errors.js';
import { type Cancel, type Instant, instant } from '../lease/clock.js';
import type { Disturbance } from '../lease/disturbance.js';
import type { Token } from '../token.js';
import type { RecordView } from './campaign.js';
import type { Contest, Outcome } from './candidacy.js';
import type { Metadata } from './candidate.js';
import { announceEnd } from './ending.js';
import type { TenureEvents } from './events.js';
import {
  type DrainReason,
  type Holding,
  type HoldingEffect,
  type HoldingEvent,
  type HoldingStep,
  holdingState,
  holdingStep,
  mayAct,
  open,
  remainingMs,
  type SuspectReason,
  type TermState,
} from './holding.js';
import type { Host } from './host.js';
import { isKind } from './nodes.js';
import { removeSurely, sessionLives, untilAnswered } from './persistence.js';
import type { Attachment } from './port.js';
import { readRecord } from './reading.js';
import { type EndHow, encodeRecord, type PreviousTerm, type TermOfRecord } from './record.js';
import { abortable } from './waiting.js';

/**
 * One leadership, from its claim to its end; never resumed once lost.
 *
 * `signal` aborts, synchronously and before anything else is told, when the term is over or must be
 * given up; its reason is a {@link LeadershipLostError}. The token is for every write to a resource
 * that checks it. Code that can't pass a token calls `assert()` right before each effect; it looks at
 * the clocks itself, so that even a process that was frozen until this very moment can't pass it late.
 */
export class Term implements AsyncDisposable {
  /** The election's name. */
  readonly election: string;
  /** 1, 2, 3, … per election. */
  readonly number: number;
  /** The fencing token: higher than that of every earlier term. */
  readonly token: Token;
  readonly leaderId: string;
  /** The term before this one and how it ended; null for the first. */
  readonly previous: PreviousTerm | null;
  /** Aborted when the leadership is lost or must be given up. */
  readonly signal: AbortSignal;

  readonly #host: Host;
  readonly #attachment: Attachment;
  readonly #contest: Contest;
  readonly #drainTimeoutMs: number;
  readonly #node: string;
  readonly #abort = new AbortController();
  readonly #cancels: Cancel[] = [];
  readonly #listeners = new Map<TermState, Set<() => void>>();
  readonly #openedAt: Instant;
  readonly #released: Promise<void>;
  #resolveReleased: () => void = () => {};
  #holding: Holding;
  #view: RecordView;
  #alarm: { at: number; cancel: Cancel } | null = null;
  #suspectSince: number | null = null;
  #lostAt: number | null = null;

  /** @internal Made by an election when a claim is confirmed, in the same turn. */
  constructor(
    host: Host,
    attachment: Attachment,
    contest: Contest,
    won: Outcome & { kind: 'claimed' },
    drainTimeoutMs: number,
  ) {
    const { claimed, watch } = won;
    this.#host = host;
    this.#attachment = attachment;
    this.#contest = contest;
    this.#drainTimeoutMs = drainTimeoutMs;
    this.#node = claimed.self.node;
    this.#view = claimed.view;
    this.election = contest.election;
    this.number = claimed.latest.term;
    this.token = claimed.latest.token;
    this.leaderId = claimed.latest.leaderId;
    this.previous = claimed.previous;
    this.signal = this.#abort.signal;
    this.#openedAt = instant(host.clock);
    this.#released = new Promise((resolve) => {
      this.#resolveReleased = resolve;
    });
    const { session, renewals } = attachment;
    const [holding, effects] = open(
      this.token,
      { lengthMs: claimed.latest.leaseMs, from: claimed.sentAt },
      this.#openedAt,
    );
    this.#holding = holding;
    watch.listen({
      gone: () => this.#dispatch({ type: 'gone', reason: 'node_gone' }),
      // A renewal that was sent before is no proof: its confirmation may come ahead of the news that our node is gone.
      unsure: () => this.#dispatch({ type: 'doubt', reason: 'connection_lost' }),
    });
    this.#cancels.push(
      () => watch.cancel(),
      session.onNode(contest.paths.term, () => void this.#recordChanged()),
      session.onState((state) => {
        if (state === 'connected') this.#dispatch({ type: 'connected' });
        else if (state === 'disconnected') this.#dispatch({ type: 'doubt', reason: 'connection_lost' });
        else this.#dispatch({ type: 'gone', reason: state === 'expired' ? 'session_expired' : 'closed' });
      }),
      renewals.hold((news) => {
        if (news.type === 'confirmed') this.#dispatch({ type: 'confirmed', sentAt: news.sentAt }, news.now);
        else if (news.type === 'disturbed') this.#dispatch({ type: 'doubt', reason: doubtOf(news.disturbance) });
        else if (news.type === 'gone') this.#dispatch({ type: 'gone', reason: 'session_node_gone' });
      }),
    );
    this.#elected(won);
    for (const effect of effects) this.#perform(effect);
    if (watch.gone) this.#dispatch({ type: 'gone', reason: 'node_gone' });
    if (session.state === 'disconnected') this.#dispatch({ type: 'doubt', reason: 'connection_lost' });
    if (!sessionLives(session)) this.#dispatch({ type: 'gone', reason: 'session_expired' });
    // A pause or transfer may have come in right behind the claim.
    this.#judgeRecord();
    if (contest.touches) this.#touch(contest.data);
  }

  get state(): TermState {
    return holdingState(this.#holding);
  }

  /** Milliseconds that the lease still has, 0 once the term is lost. Reads the clocks. */
  remainingMs(): number {
    return remainingMs(this.#holding, instant(this.#host.clock));
  }

  /**
   * Returns only if this term's lease holds at this moment and nothing has happened since its last
   * renewal that would make that doubtful.
   *
   * @throws {LeadershipLostError} when the term is over
   * @throws {NotLeadingError} while it is suspect: `await term.whenLeading()`, or give up
   */
  assert(): void {
    const now = instant(this.#host.clock);
    if (mayAct(this.#holding, now)) return;
    // The timer that should have noticed is late: this process was paused, and is told here.
    if (this.#holding.name !== 'lost' && remainingMs(this.#holding, now) === 0) this.#dispatch({ type: 'alarm' }, now);
    if (this.#holding.name === 'lost') throw this.#lossError(this.#holding.reason);
    throw new NotLeadingError(
      `${this.#name()} is suspect (${this.#holding.doubt?.reason.replaceAll('_', ' ')}): ` +
        'a renewal must be confirmed before anything may be written',
    );
  }

  /**
   * Resolves as soon as the term is (or is again) free of doubt.
   *
   * @throws {LeadershipLostError} when it is over or has to be given up
   */
  async whenLeading(): Promise<void> {
    if (this.signal.aborted) throw this.signal.reason;
    if (this.state === 'leading' || this.state === 'recovering') return;
    await abortable<void>(this.signal, (resolve) => {
      const stop = [this.on('leading', resolve), this.on('recovering', resolve)];
      return () => stop.forEach((each) => each());
    });
  }

  /**
   * Calls the listener whenever the term enters that state, after `signal` has been aborted where that goes with it.
   *
   * @returns how to stop that
   */
  on(state: TermState, listener: () => void): Cancel {
    const listeners = this.#listeners.get(state) ?? new Set();
    this.#listeners.set(state, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /**
   * Replaces the metadata that the record shows for this term.
   *
   * @throws {LeadershipLostError} {@link NotLeadingError} as `assert()` does
   */
  async update(metadata: Metadata): Promise<void> {
    const { session } = this.#attachment;
    for (;;) {
      this.assert();
      const { record, version } = this.#view;
      const latest: TermOfRecord | null = record.latest;
      if (latest === null || latest.token !== this.token) throw this.#lossError('superseded');
      try {
        await session.write(
          this.#contest.paths.term,
          encodeRecord({ ...record, latest: { ...latest, metadata } }),
          version,
        );
        return;
      } catch (error) {
        // Somebody else changed the record, or the reply was lost: look again, and write again.
        if (!isKind(error, 'bad_version') && !(error instanceof TenureError && error.retriable)) throw error;
        await this.#recordChanged();
      }
    }
  }

  /**
   * Gives the leadership up, saying that the work has stopped: the successor leads within milliseconds.
   * Resolves when that is certain to be known, or the session is dead. Never rejects. Idempotent.
   */
  async resign(): Promise<void> {
    this.#dispatch({ type: 'drain', why: 'resigned' });
    this.#dispatch({ type: 'release', settled: true });
    await this.#released;
  }

  /** `await using term = …`: resigns at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.resign();
  }

  /** @internal The recover stage is over. */
  recovered(): void {
    if (this.#holding.name !== 'recovering') return;
    this.#dispatch({ type: 'recovered' });
    const durationMs = this.#host.clock.monotonic() - this.#openedAt.monotonic;
    this.#host.emit('recovered', { ...this.#event(), durationMs });
  }

  /** @internal Asks the worker to finish; the leadership is given up when it has, or when its time to drain is over. */
  drain(why: DrainReason): void {
    this.#dispatch({ type: 'drain', why });
  }

  /** @internal Gives the leadership up without a word: its successor is patient. */
  abandon(): void {
    this.#dispatch({ type: 'release', settled: false });
  }

  /** @internal How long the term has been over, in milliseconds; 0 while it isn't. */
  overForMs(monotonic: number): number {
    return this.#lostAt === null ? 0 : monotonic - this.#lostAt;
  }

  /** @internal Resolves when our end is known to the ensemble, or the session is dead. */
  get released(): Promise<void> {
    return this.#released;
  }

  // --- events in, effects out -----------------------------------------------------------------

  #dispatch(event: HoldingEvent, now: Instant = instant(this.#host.clock)): void {
    this.#apply(holdingStep(this.#holding, event, now));
  }

  #apply([holding, effects]: HoldingStep): void {
    const before = this.#holding;
    this.#holding = holding;
    for (const effect of effects) this.#perform(effect);
    if (holding !== before) this.#tell(before, holding);
  }

  #perform(effect: HoldingEffect): void {
    switch (effect.do) {
      case 'abort':
        this.#abort.abort(this.#lossError(effect.reason));
        break;
      case 'renew':
        this.#attachment.renewals.renewNow();
        break;
      case 'alarm':
        this.#wakeIn(effect.inMs);
        break;
      case 'release':
        void this.#release(effect.announce);
        break;
    }
  }

  /** One timer, set again only for an earlier moment: a renewal moves the deadline away, and the timer finds that out. */
  #wakeIn(inMs: number): void {
    const { clock } = this.#host;
    const at = clock.monotonic() + inMs;
    if (this.#alarm !== null && this.#alarm.at <= at) return;
    this.#alarm?.cancel();
    const cancel = clock.after(inMs, () => {
      this.#alarm = null;
      this.#dispatch({ type: 'alarm' });
    });
    this.#alarm = { at, cancel };
  }

  /** Takes our node out of the queue, behind the announcement where there is one; both until confirmed. */
  async #release(announce: EndHow | null): Promise<void> {
    this.#alarm?.cancel();
    for (const cancel of this.#cancels) cancel();
    const { session } = this.#attachment;
    const { paths } = this.#contest;
    const announced =
      announce === null ? false : announceEnd(this.#host, session, paths.term, this.token, announce, this.#view);
    const removed = removeSurely(this.#host, session, `${paths.queue}/${this.#node}`);
    const said = await announced;
    await removed;
    this.#host.emit('released', { ...this.#event(), announced: said });
    this.#resolveReleased();
  }

  async #recordChanged(): Promise<void> {
    try {
      this.#view = await readRecord(this.#host, this.#attachment.session, this.#contest.paths.term, true);
    } catch (error) {
      if (!sessionLives(this.#attachment.session)) return;
      this.#host.logger.error({ election: this.election, err: error }, 'the term record was overwritten');
      this.#dispatch({ type: 'record', ours: false, paused: false, transferred: false });
      return;
    }
    this.#judgeRecord();
  }

  #judgeRecord(): void {
    const { latest, pause, transfer } = this.#view.record;
    this.#dispatch({
      type: 'record',
      ours: latest?.token === this.token && latest.ended === null,
      paused: pause !== null,
      transferred: transfer !== null && transfer.to !== this.#node,
    });
  }

  /**
   * Rewrites our own candidate node as it is: the one candidate that watches it learns that its
   * predecessor leads now, and begins to date our renewals. Nobody else is told anything.
   */
  #touch(data: Uint8Array): void {
    const { session } = this.#attachment;
    const path = `${this.#contest.paths.queue}/${this.#node}`;
    untilAnswered(this.#host, session, () => session.write(path, data, -1), this.signal).catch(() => {
      // Lost meanwhile, or refused: the follower is then patient from the vacancy on, which is safe.
    });
  }

  // --- telling --------------------------------------------------------------------------------

  #tell(before: Holding, holding: Holding): void {
    const state = holdingState(holding);
    const was = holdingState(before);
    if (state === was) return;
    this.#announce(state, holding);
    for (const listener of [...(this.#listeners.get(state) ?? [])]) {
      try {
        listener();
      } catch (error) {
        this.#host.logger.error({ election: this.election, err: error }, 'a listener of the term threw');
      }
    }
  }

  #announce(state: TermState, holding: Holding): void {
    const { clock, emit } = this.#host;
    const now = clock.monotonic();
    if (state === 'suspect' && holding.name !== 'lost' && holding.doubt !== null) {
      this.#suspectSince = now;
      emit('suspect', { ...this.#event(), reason: holding.doubt.reason });
    } else if (state === 'leading' || state === 'recovering') {
      emit('leading', { ...this.#event(), suspectMs: this.#suspectSince === null ? 0 : now - this.#suspectSince });
      this.#suspectSince = null;
    } else if (holding.name === 'draining') {
      emit('draining', { ...this.#event(), reason: holding.why });
      this.#cancels.push(clock.after(this.#drainTimeoutMs, () => this.#drainTimedOut()));
    } else if (holding.name === 'lost') {
      this.#lostAt = now;
      emit('lost', { ...this.#event(), reason: holding.reason, ledMs: now - this.#openedAt.monotonic });
    }
  }

  #drainTimedOut(): void {
    this.#host.emit('undrained', { ...this.#event(), drainTimeoutMs: this.#drainTimeoutMs });
    this.#dispatch({ type: 'release', settled: false });
  }

  #elected(won: Outcome & { kind: 'claimed' }): void {
    const { claimed, joinedAt, patienceMs } = won;
    this.#host.emit('elected', {
      ...this.#event(),
      electionMs: claimed.sentAt.monotonic - joinedAt,
      failoverMs: claimed.previous === null ? null : claimed.sentAt.monotonic - claimed.vacancyAt,
      patienceMs,
      cause: claimed.previous?.end ?? 'first',
    } satisfies TenureEvents['elected']);
  }

  #event() {
    return { election: this.election, candidateId: this.leaderId, term: this.number, token: this.token };
  }

  #name(): string {
    return `term ${this.number} of ${JSON.stringify(this.election)} (token ${this.token})`;
  }

  #lossError(reason: LossReason): LeadershipLostError {
    if (this.signal.aborted) return this.signal.reason as LeadershipLostError;
    return new LeadershipLostError(reason, `${this.#name()} is over: ${LOSS[reason]}`);
  }
}

function doubtOf(disturbance: Disturbance): SuspectReason {
  return disturbance.kind;
}

const LOSS: Readonly<Record<LossReason, string>> = {
  lease_expired: 'no renewal was confirmed within the lease',
  session_expired: 'the ZooKeeper session expired',
  session_node_gone: 'the session node, to which renewals are written, was deleted',
  node_gone: 'its candidate node was deleted',
  superseded: 'the term record names another term',
  resigned: 'it was resigned',
  paused: 'the election was paused',
  transferred: 'the leadership was transferred',
  held: 'this process was told to hold',
  closed: 'the connection was closed',
};
