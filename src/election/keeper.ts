import type { LeadershipLostError, LossReason } from '../errors.js';
import { type Cancel, type Instant, instant } from '../lease/clock.js';
import type { Token } from '../token.js';
import type { RecordView } from './campaign.js';
import type { Won } from './candidacy.js';
import type { Contest } from './contest.js';
import { announceEnd, endAtOnce } from './ending.js';
import {
  type Holding,
  type HoldingEffect,
  type HoldingEvent,
  type HoldingStep,
  holdingState,
  holdingStep,
  open,
  type TermState,
} from './holding.js';
import type { Host } from './host.js';
import { type Judgement, judge } from './judgement.js';
import { asked, leadershipLost } from './loss.js';
import { isKind } from './nodes.js';
import type { OwnNodeNews, OwnNodeWatch } from './own-node.js';
import { removeSurely, sessionLives, untilAnswered } from './persistence.js';
import type { Attachment, Holder, NodeListener, Onlooker, RenewalNews, SessionState } from './port.js';
import { readRecord } from './reading.js';
import { type EndHow, encodeRecord, type PreviousTerm, type Transfer } from './record.js';

/**
 * Keeps one term: tells its reducer what happens to the session, the record and our node, and
 * carries out what it asks for. All effects of a term are in this file.
 *
 * A process may hold thousands: what not every term needs is made when it is asked for.
 */
export class Keeper implements OwnNodeNews, Onlooker, Holder, NodeListener {
  readonly election: string;
  readonly number: number;
  readonly token: Token;
  readonly leaderId: string;
  readonly previous: PreviousTerm | null;
  /** When the term was opened. */
  readonly openedAt: Instant;
  readonly #host: Host;
  readonly #attachment: Attachment;
  readonly #contest: Contest;
  readonly #drainTimeoutMs: number;
  readonly #node: string;
  readonly #watch: OwnNodeWatch;
  /** One string, for whoever keeps it of each term. */
  readonly #recordPath: string;
  readonly #onReleased: () => void;
  #abort: AbortController | null = null;
  /** Why the term is over, or has to be given up. */
  #loss: LeadershipLostError | null = null;
  #listeners: Map<TermState, Set<() => void>> | null = null;
  #released: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
  #isReleased = false;
  #stopDraining: Cancel = () => {};
  #holding: Holding;
  #view: RecordView;
  /** When something may be due, by the monotonic clock; the timer for it is set by the last tick before that. */
  #dueAt = Number.POSITIVE_INFINITY;
  #timer: Cancel | null = null;
  #judgement: Judgement = 'ours';
  #refused = false;
  #suspectSince: number | null = null;
  #lostAt: number | null = null;

  /** Made when a claim is confirmed, in the same turn: no change of the record or of our node can fall between. */
  constructor(
    host: Host,
    attachment: Attachment,
    contest: Contest,
    won: Won,
    drainTimeoutMs: number,
    onReleased: () => void,
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
    this.openedAt = instant(host.clock);
    const lease = { lengthMs: claimed.latest.leaseMs, from: claimed.sentAt };
    const [holding, effects] = open(this.token, lease, this.openedAt);
    this.#holding = holding;
    this.#onReleased = onReleased;
    this.#watch = watch;
    this.#recordPath = contest.paths.term;
    this.#listenTo();
    this.#elected(won);
    for (const effect of effects) this.#perform(effect, this.openedAt);
    // Its claim was confirmed when its lease was over already.
    if (holding.name === 'lost') this.#announce('lost', holding);
    this.#catchUp(won);
  }

  /** Made when it is first asked for. */
  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController();
      if (this.#loss !== null) this.#abort.abort(this.#loss);
    }
    return this.#abort.signal;
  }

  /** With what {@link signal} is aborted; null while it isn't. */
  get loss(): LeadershipLostError | null {
    return this.#loss;
  }

  /** Resolves when our end is known to the ensemble, the session is dead, or no server has answered for a session timeout. */
  get released(): Promise<void> {
    if (this.#released === null) {
      let resolve = () => {};
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      this.#released = { promise, resolve };
      if (this.#isReleased) resolve();
    }
    return this.#released.promise;
  }

  get holding(): Holding {
    return this.#holding;
  }

  /** The record as last read. */
  get view(): RecordView {
    return this.#view;
  }

  /** How long it has led, or had when it ended, in milliseconds. */
  get ledMs(): number {
    return (this.#lostAt ?? this.#host.clock.monotonic()) - this.openedAt.monotonic;
  }

  /** How long the term has been over, in milliseconds; 0 while it isn't. */
  get overForMs(): number {
    return this.#lostAt === null ? 0 : this.#host.clock.monotonic() - this.#lostAt;
  }

  get #over(): boolean {
    return this.#holding.name === 'lost';
  }

  now(): Instant {
    return instant(this.#host.clock);
  }

  on(state: TermState, listener: () => void): Cancel {
    this.#listeners ??= new Map();
    const listeners = this.#listeners.get(state) ?? new Set();
    this.#listeners.set(state, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  dispatch(event: HoldingEvent, now: Instant = this.now()): void {
    this.#apply(holdingStep(this.#holding, event, now), now)();
  }

  /** Drains a term whose work has stopped, and releases it in the same breath. That is told when it is on its way. */
  resign(): void {
    const now = this.now();
    const tellDraining = this.#apply(holdingStep(this.#holding, { type: 'drain', why: 'resigned' }, now), now);
    const tellLost = this.#apply(holdingStep(this.#holding, { type: 'release', settled: true }, now), now);
    tellDraining();
    tellLost();
  }

  /** Writes the record if it is still as we last read it. @throws {CoordinatorError} of kind `bad_version` where it isn't */
  async write(data: Uint8Array): Promise<void> {
    await this.#attachment.session.write(this.#contest.paths.term, data, this.#view.version);
  }

  /** Reads the record again, and draws the conclusions. Never rejects. */
  readAgain(): Promise<void> {
    return this.#look(readRecord(this.#host, this.#attachment.session, this.#recordPath, true));
  }

  async #look(reading: Promise<RecordView>): Promise<void> {
    try {
      this.#view = await reading;
    } catch (error) {
      if (this.#over || !sessionLives(this.#attachment.session)) return;
      this.#host.logger.error({ election: this.election, err: error }, 'the term record was overwritten');
      this.dispatch({ type: 'record', says: 'superseded' });
      return;
    }
    // Its candidate may stand in the queue again: what is told of that is not ours any more.
    if (!this.#over) this.#judgeRecord();
  }

  /** A resource that has accepted a higher token refused ours, while our lease was good. */
  refused(highest: Token): void {
    if (this.#refused) return;
    this.#refused = true;
    const { election, leaderId: candidateId, token } = this;
    this.#host.emit('token_regressed', { election, candidateId, token, recorded: highest });
  }

  recovered(): void {
    if (this.#holding.name !== 'recovering') return;
    this.dispatch({ type: 'recovered' });
    // Its lease may have been over.
    if (this.#over) return;
    this.#host.emit('recovered', {
      ...this.#event(),
      durationMs: this.#host.clock.monotonic() - this.openedAt.monotonic,
    });
  }

  lossError(reason: LossReason): LeadershipLostError {
    if (this.#loss !== null) return this.#loss;
    return leadershipLost(reason, this.name, asked(reason, this.#view.record, this.#judgement));
  }

  /** For messages. */
  get name(): string {
    return `term ${this.number} of ${JSON.stringify(this.election)} (token ${this.token})`;
  }

  /** Of our own node. */
  gone(): void {
    this.dispatch({ type: 'gone', reason: 'node_gone' });
  }

  /** A renewal that was sent before is no proof: its confirmation may come ahead of the news that our node is gone. */
  unsure(): void {
    this.dispatch({ type: 'doubt', reason: 'connection_lost' });
  }

  /** The renewals that were sent ahead of the answer were no proof, however often the connection was lost meanwhile. */
  sure(): void {
    if (!this.#over) this.#attachment.renewals.renewNow();
  }

  stateChanged(state: SessionState): void {
    if (state === 'connected') this.dispatch({ type: 'connected' });
    else if (state === 'disconnected') this.dispatch({ type: 'doubt', reason: 'connection_lost' });
    else this.dispatch({ type: 'gone', reason: state === 'expired' ? 'session_expired' : 'closed' });
  }

  renewal(news: RenewalNews): void {
    if (news.type === 'confirmed') {
      // Ahead of the answer whether our node is still there: nothing would tell us that it isn't.
      if (!this.#watch.unsure) this.dispatch({ type: 'confirmed', sentAt: news.sentAt }, news.now);
    } else if (news.type === 'disturbed') this.dispatch({ type: 'doubt', reason: news.disturbance.kind });
    else if (news.type === 'gone') this.dispatch({ type: 'gone', reason: 'session_node_gone' });
  }

  tick(nextMs: number): void {
    const inMs = this.#dueAt - this.#host.clock.monotonic();
    // The next tick may be late by as much.
    if (this.#timer !== null || inMs > 2 * nextMs) return;
    this.#timer = this.#host.clock.after(inMs, () => {
      this.#timer = null;
      this.dispatch({ type: 'alarm' });
    });
  }

  /** Of the record. */
  changed(): void {
    void this.readAgain();
  }

  #listenTo(): void {
    const { session, renewals, onlookers } = this.#attachment;
    this.#watch.listen(this);
    onlookers.add(this);
    renewals.hold(this);
    session.listen(this.#recordPath, this);
  }

  /** What may have happened between the claim and now. */
  #catchUp({ claimed, watch, behind }: Won): void {
    const { session, renewals } = this.#attachment;
    if (watch.gone) this.dispatch({ type: 'gone', reason: 'node_gone' });
    if (session.state === 'disconnected' || watch.unsure) this.dispatch({ type: 'doubt', reason: 'connection_lost' });
    if (!sessionLives(session)) this.dispatch({ type: 'gone', reason: 'session_expired' });
    // Whoever waits behind us looks at the one that the record names, and sees nothing of renewals that go elsewhere.
    if (renewals.node !== claimed.latest.session) this.dispatch({ type: 'gone', reason: 'session_node_gone' });
    // Where there are transactions the claim was one with it.
    const touches = this.#contest.touches && session.transaction === undefined;
    // A pause or transfer may have come in right behind the claim.
    const judged = behind === null ? this.#judgeRecord() : this.#look(behind);
    if (touches) void Promise.resolve(judged).then(() => this.#touch());
  }

  /** @returns what tells of it, to be called in the same turn */
  #apply([holding, effects]: HoldingStep, now: Instant): () => void {
    const before = this.#holding;
    this.#holding = holding;
    for (const effect of effects) this.#perform(effect, now);
    // A listener of the signal may have ended the term meanwhile: then that has been told, and this is overtaken.
    if (holding === before || holdingState(this.#holding) !== holdingState(holding)) return () => {};
    return () => this.#tell(before, holding);
  }

  #perform(effect: HoldingEffect, now: Instant): void {
    switch (effect.do) {
      case 'abort':
        this.#loss = this.lossError(effect.reason);
        this.#abort?.abort(this.#loss);
        break;
      case 'renew':
        this.#attachment.renewals.renewNow();
        break;
      case 'alarm':
        this.#wakeAt(now.monotonic + effect.inMs);
        break;
      case 'release':
        void this.#release(effect.announce);
        break;
    }
  }

  /**
   * A renewal moves the moment away, long before it comes: so no timer is set until the tick before it. Timers for thousands of
   * terms would all be set in vain.
   */
  #wakeAt(dueAt: number): void {
    this.#dueAt = dueAt;
    this.#timer?.();
    this.#timer = null;
    this.tick(this.#attachment.renewals.tickMs);
  }

  /**
   * Leaves the queue. Nobody is kept waiting for that without end: where no server answers for a session timeout, it goes
   * on in the background.
   */
  async #release(announce: EndHow | null): Promise<void> {
    const { session, turns, renewals, onlookers } = this.#attachment;
    // Sent before anything else is done: the next one waits for it.
    const left = turns.take(() => this.#leave(announce));
    this.#timer?.();
    this.#stopDraining();
    session.unlisten(this.#recordPath, this);
    this.#watch.cancel();
    onlookers.delete(this);
    renewals.release(this);
    const stopWaiting = this.#host.clock.after(session.timeoutMs, () => {
      this.#host.logger.warn(
        { election: this.election, term: this.number, session: session.id },
        'no server confirms the end of the term: its node goes when one does, or when the session expires',
      );
      this.#tellReleased();
    });
    await left;
    stopWaiting();
  }

  /**
   * Takes our node out of the queue, with the announcement where there is one: in one transaction, or else behind it; both
   * until confirmed.
   */
  async #leave(announce: EndHow | null): Promise<void> {
    const { session } = this.#attachment;
    const { paths } = this.#contest;
    const node = `${paths.queue}/${this.#node}`;
    let said = false;
    if (announce !== null && session.transaction !== undefined) {
      said = await endAtOnce(this.#host, session, paths.term, this.token, announce, this.#view, node);
    }
    if (!said) {
      const announced =
        announce === null ? false : announceEnd(this.#host, session, paths.term, this.token, announce, this.#view);
      const removed = removeSurely(this.#host, session, node);
      said = await announced;
      await removed;
    }
    this.#host.emit('released', { ...this.#event(), announced: said });
    this.#tellReleased();
  }

  #tellReleased(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#released?.resolve();
    this.#onReleased();
  }

  #judgeRecord(): void {
    const { latest, pause, transfer } = this.#view.record;
    const { election, candidateId } = this.#event();
    this.#host.emit('record_seen', {
      election,
      candidateId,
      recordedTerm: latest?.term ?? 0,
      paused: pause !== null,
    });
    this.#judgement = judge(this.#view.record, this.token, this.#node);
    if (this.#judgement === 'transferred' && transfer !== null) void this.#handOver(transfer);
    else this.dispatch({ type: 'record', says: this.#judgement });
  }

  /** Steps down for the target of a transfer if that still stands; else the transfer is void, and we strike it out. */
  async #handOver(transfer: Transfer): Promise<void> {
    const { session } = this.#attachment;
    const { record } = this.#view;
    const path = `${this.#contest.paths.queue}/${transfer.to}`;
    try {
      // The target stood when the transfer was written: a server that shows that shows the target too, if it stands.
      const stands = (await untilAnswered(this.#host, session, () => session.stat(path), this.signal)) !== null;
      if (this.#view.record !== record) return;
      if (stands) this.dispatch({ type: 'record', says: 'transferred' });
      else await this.write(encodeRecord({ ...record, transfer: null }));
    } catch (error) {
      // Lost on the way: look again, and judge again. Else the term is over; or the record has changed, which we are told of.
      if (isKind(error, 'connection_lost', 'operation_timeout') && this.#loss === null) await this.readAgain();
    }
  }

  /**
   * Rewrites our own candidate node as it is: the one candidate that watches it learns that its
   * predecessor leads now, and begins to date our renewals. Nobody else is told anything.
   */
  #touch(): void {
    if (this.#over) return;
    const { session, turns } = this.#attachment;
    const path = `${this.#contest.paths.queue}/${this.#node}`;
    const write = () => session.write(path, this.#contest.data, -1);
    turns
      .take(() => untilAnswered(this.#host, session, write), 'last')
      .catch(() => {
        // Lost meanwhile, or refused: the follower is then patient from the vacancy on, which is safe.
      });
  }

  #tell(before: Holding, holding: Holding): void {
    const state = holdingState(holding);
    if (state === holdingState(before)) return;
    this.#announce(state, holding);
    for (const listener of [...(this.#listeners?.get(state) ?? [])]) {
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
      if (this.#holding.name === 'draining')
        this.#stopDraining = clock.after(this.#drainTimeoutMs, () => this.#drainTimedOut());
    } else if (holding.name === 'lost') {
      this.#lostAt = now;
      emit('lost', { ...this.#event(), reason: holding.reason, ledMs: now - this.openedAt.monotonic });
    }
  }

  #drainTimedOut(): void {
    this.#host.emit('undrained', { ...this.#event(), drainTimeoutMs: this.#drainTimeoutMs });
    this.dispatch({ type: 'release', settled: false });
  }

  #elected({ claimed, joinedAt, patienceMs }: Won): void {
    this.#host.emit('elected', {
      ...this.#event(),
      electionMs: claimed.sentAt.monotonic - joinedAt,
      failoverMs: claimed.previous === null ? null : claimed.sentAt.monotonic - claimed.leaderlessSince,
      patienceMs,
      cause: claimed.previous?.end ?? 'first',
    });
  }

  #event() {
    return { election: this.election, candidateId: this.leaderId, term: this.number, token: this.token };
  }
}
