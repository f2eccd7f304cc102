import { CoordinatorError, TenureError, TokenRegressedError } from '../errors.js';
import { type Cancel, instant } from '../lease/clock.js';
import type { Token } from '../token.js';
import type { CampaignEffect, CampaignEvent, CampaignState, Claimed, Out, RecordView } from './campaign.js';
import { campaignStep, enterQueue } from './campaign-step.js';
import { decodeCandidate, isForeign, parseObject } from './candidate.js';
import { type Claim, claimedRecord, writeClaim } from './claiming.js';
import type { Contest } from './contest.js';
import { withdrawClaim } from './ending.js';
import { enqueue, listed, type Place } from './enqueue.js';
import type { Candidate } from './holds.js';
import type { Host } from './host.js';
import { ensurePath, isKind } from './nodes.js';
import type { OwnNodeNews, OwnNodeWatch } from './own-node.js';
import { removeSurely, sessionLives, untilAnswered } from './persistence.js';
import type { Attachment, NodeChange, NodeData, NodeListener, Onlooker, SessionState, Watcher } from './port.js';
import { aheadOf } from './queue.js';
import { readRecord } from './reading.js';
import { encodeRecord } from './record.js';
import type { Stoppable } from './stop.js';

export interface Won {
  readonly kind: 'claimed';
  readonly claimed: Claimed;
  readonly watch: OwnNodeWatch;
  /** The read of the record, with a watch, that was sent right behind the claim; null where the claim was recognised in a read. */
  readonly behind: Promise<RecordView> | null;
  readonly joinedAt: number;
  readonly patienceMs: number;
}

export type Outcome =
  | Won
  /** Our node was lost: join again. Or we step back for the target of a transfer: join again, behind it. */
  | { readonly kind: 'out'; readonly why: 'node_gone' | 'stepped_back' }
  /** Somebody stands before us, and we were not to wait. */
  | { readonly kind: 'not_first' }
  /** This process is not to lead. */
  | { readonly kind: 'held' }
  /** The session died, or something else came between that joining again mends. */
  | { readonly kind: 'interrupted' };

const NOTHING: Cancel = () => {};

/**
 * One candidacy in one session: carries out what the campaign's reducer asks for, and tells it
 * what comes of it. All effects of a campaign are in this file.
 *
 * Thousands may stand in one process for days, so little is kept of each: no async function that waits, no closure where a method
 * serves.
 */
export class Candidacy implements OwnNodeNews, Onlooker, Candidate, Watcher, NodeListener {
  readonly #host: Host;
  readonly #attachment: Attachment;
  readonly #contest: Contest;
  readonly #standing: Set<Candidate>;
  readonly #stop: Stoppable;
  readonly #onAbort = (): void => this.#fail(this.#stop.reason);
  #resolve: (outcome: Outcome) => void = NOTHING;
  #reject: (error: unknown) => void = NOTHING;
  #state: CampaignState | null = null;
  #joinedAt = 0;
  #own: OwnNodeWatch | null = null;
  /** One string, for whoever keeps it of each candidacy. */
  readonly #recordPath: string;
  /** Whose node is listened to. */
  #predecessor: string | null = null;
  /** The session whose node is watched. */
  #leader: string | null = null;
  #alarm = NOTHING;
  #patientSince: number | null = null;
  #behind: Promise<RecordView> | null = null;
  #over = false;

  /** `standing`: where it is entered while it joins and stands. */
  constructor(host: Host, standing: Set<Candidate>, attachment: Attachment, contest: Contest, stop: Stoppable) {
    this.#host = host;
    this.#attachment = attachment;
    this.#contest = contest;
    this.#standing = standing;
    this.#stop = stop;
    this.#recordPath = contest.paths.term;
  }

  get election(): string {
    return this.#contest.election;
  }

  /**
   * Joins the queue and campaigns; once. Unless it ends in `claimed`, no node of ours is left, now or soon.
   *
   * @throws `stop.reason` when aborted; {@link TokenRegressedError}; {@link TermRecordError}; {@link SequenceExhaustedError};
   *   {@link CoordinatorError} that joining again can't mend
   */
  run(wait: boolean): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#stop.aborted) {
        reject(this.#stop.reason);
        return;
      }
      this.#resolve = resolve;
      this.#reject = reject;
      this.#standing.add(this);
      this.#stop.addEventListener('abort', this.#onAbort, { once: true });
      enqueue(this.#host, this.#attachment, this.#contest, () => !this.#over).then(
        (place) => this.#joined(place, wait),
        (error: unknown) => this.#fail(error),
      );
    });
  }

  /** Gives it up, as this process is not to lead. */
  leave(): void {
    this.#finish({ kind: 'held' });
  }

  #joined(place: Place | null, wait: boolean): void {
    if (place === null) {
      this.#finish({ kind: 'out', why: 'node_gone' });
      return;
    }
    const { node, queue, watch } = place;
    if (this.#over) {
      this.#giveUp(watch);
      return;
    }
    const { session, onlookers, turns } = this.#attachment;
    this.#joinedAt = this.#host.clock.monotonic();
    this.#own = watch;
    watch.listen(this);
    onlookers.add(this);
    session.listen(this.#recordPath, this);
    this.#emit('joined', { node, ahead: queue.length });
    if (!wait && queue.length > 0) {
      this.#finish({ kind: 'not_first' });
      return;
    }
    // It may have died, or we have been told to stop, by what was told of the joining.
    this.stateChanged(session.state);
    if (this.#over) return;
    // Where thousands join at once, all get their places before the first of them looks around: those count, and nobody ahead
    // who goes meanwhile is missed, as each asks whether its predecessor is there.
    const armed = turns.take(async () => (this.#over ? null : watch.arm()), 'last');
    this.#answer(armed, (czxid) => this.#enter(place, czxid));
  }

  /** Our node has been asked for, and is watched from now on; null where it is gone, or not this session's. */
  #enter({ node, queue, watch }: Place, czxid: bigint | null): void {
    if (czxid === null || watch.gone) {
      this.#finish({ kind: 'out', why: 'node_gone' });
      return;
    }
    this.#apply(enterQueue({ node, czxid }, queue, this.#joinedAt));
    if (watch.unsure) this.unsure();
  }

  /** Of our own node. */
  gone(): void {
    this.#dispatch({ type: 'own_node_gone' });
  }

  unsure(): void {
    this.#dispatch({ type: 'own_node_unsure' });
  }

  sure(): void {
    this.#dispatch({ type: 'own_node_sure' });
  }

  stateChanged(now: SessionState): void {
    if (now === 'disconnected') this.#dispatch({ type: 'disconnected' });
    else if (now !== 'connected')
      this.#fail(new CoordinatorError('session_expired', 'campaign', this.#contest.paths.queue));
  }

  #fail(error: unknown): void {
    const { session } = this.#attachment;
    if (this.#over) return;
    const interrupted =
      !sessionLives(session) ||
      isKind(error, 'session_expired', 'session_closed') ||
      (error instanceof TenureError && error.retriable);
    if (this.#stop.aborted) this.#end(null, () => this.#reject(this.#stop.reason));
    else if (interrupted) this.#finish({ kind: 'interrupted' });
    else this.#end(null, () => this.#reject(error));
  }

  #finish(outcome: Outcome): void {
    if (!this.#over) this.#end(outcome, () => this.#resolve(outcome));
  }

  /** Nothing of it stays behind, but what a term takes over. */
  #end(outcome: Outcome | null, settle: () => void): void {
    this.#over = true;
    this.#standing.delete(this);
    this.#attachment.onlookers.delete(this);
    this.#stop.removeEventListener('abort', this.#onAbort);
    this.#alarm();
    this.#attachment.session.unlisten(this.#recordPath, this);
    this.#leavePredecessor();
    this.#leaveLeader();
    if (outcome?.kind !== 'claimed' && this.#own !== null) {
      this.#giveUp(this.#own);
      this.#emit('left', {});
    }
    settle();
  }

  /** Where the campaign has come to an end. */
  #conclude(state: CampaignState): void {
    if (this.#over || this.#own === null) return;
    if (state.name === 'claimed') {
      const since = this.#patientSince ?? state.sentAt.monotonic;
      this.#finish({
        kind: 'claimed',
        claimed: state,
        watch: this.#own,
        behind: this.#behind,
        joinedAt: this.#joinedAt,
        patienceMs: Math.max(0, state.sentAt.monotonic - since),
      });
    } else if (state.name === 'out') {
      if (state.why === 'token_regressed') this.#fail(this.#regressed(state));
      else this.#finish({ kind: 'out', why: state.why });
    }
  }

  #dispatch(event: CampaignEvent): void {
    if (this.#over || this.#state === null) return;
    this.#apply(campaignStep(this.#state, event, this.#host.clock.monotonic(), this.#contest));
  }

  #apply([state, effects]: readonly [CampaignState, readonly CampaignEffect[]]): void {
    const before = this.#state;
    this.#state = state;
    if (state.name === 'waiting' && before?.name === 'waiting' && state.position < before.position) {
      this.#emit('position', { ahead: state.position });
    }
    if (state.name === 'patient' && before?.name !== 'patient') this.#emit('position', { ahead: 0 });
    if (state.view !== null && state.view.record !== before?.view?.record) this.#tellRecord(state);
    this.#conclude(state);
    // Whoever was told of it, or of an effect before, may have ended it: what is begun now would stay behind.
    for (const effect of effects) if (!this.#over) this.#perform(effect);
  }

  #perform(effect: CampaignEffect): void {
    const { session, renewals, turns } = this.#attachment;
    const { paths } = this.#contest;
    switch (effect.do) {
      case 'watch_predecessor': {
        const { node } = effect;
        this.#answer(this.#watchPredecessor(node), (found) => {
          if (found !== null)
            this.#emit('predecessor', { node, foreign: isForeign(node, decodeCandidate(found.data)) });
          this.#dispatch({ type: 'predecessor', node, found: found !== null });
        });
        break;
      }
      case 'watch_leader': {
        const leader = effect.session;
        this.#answer(this.#watchLeader(leader), (found) =>
          this.#dispatch({
            type: 'leader_seen',
            session: leader,
            found: found !== null,
            ended: found !== null && typeof parseObject(found.data)?.['ended'] === 'string',
          }),
        );
        break;
      }
      case 'seek': {
        const { node } = effect;
        this.#answer(
          untilAnswered(this.#host, session, () => session.stat(`${paths.queue}/${node}`)),
          (stat) => this.#dispatch({ type: 'target', node, found: stat !== null }),
        );
        break;
      }
      case 'list':
        this.#answer(listed(this.#host, session, paths.queue), (names) => {
          if (this.#state === null || this.#state.name === 'out') return;
          this.#dispatch({ type: 'listed', queue: aheadOf(names, this.#state.self.node) });
        });
        break;
      case 'read_record':
        this.#answer(this.#readRecord(effect.watch), (view) => this.#dispatch({ type: 'record', view }));
        break;
      case 'prepare':
        renewals.prepare().catch(() => {});
        break;
      case 'alarm':
        this.#waitUntil(effect.at);
        break;
      case 'claim':
        this.#answer(
          turns.take(() => this.#claim(effect)),
          () => {},
        );
        break;
    }
  }

  /** Hands an answer to `then`; a failure that repeating can't mend ends the campaign with its error. */
  #answer<T>(operation: Promise<T>, then: (value: T) => void): void {
    operation.then(
      (value) => {
        if (!this.#over) then(value);
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** One subscription, which moves along when another becomes the predecessor. */
  #watchPredecessor(node: string): Promise<NodeData | null> {
    const { session } = this.#attachment;
    const path = `${this.#contest.paths.queue}/${node}`;
    this.#leavePredecessor();
    this.#predecessor = node;
    session.listen(path, this);
    return untilAnswered(this.#host, session, () => session.read(path, { watch: true }));
  }

  #leavePredecessor(): void {
    const { queue } = this.#contest.paths;
    if (this.#predecessor !== null) this.#attachment.session.unlisten(`${queue}/${this.#predecessor}`, this);
  }

  /** Of the record, or of the predecessor. */
  changed(path: string, change: NodeChange): void {
    if (path === this.#recordPath) this.#dispatch({ type: 'record_changed' });
    else if (this.#predecessor !== null)
      this.#dispatch({ type: 'predecessor_changed', node: this.#predecessor, gone: change === 'deleted' });
  }

  /** The same of the leader's session, which all may share who stand behind it. */
  #watchLeader(leader: string): Promise<NodeData | null> {
    const { reads } = this.#attachment;
    if (this.#leader !== leader) this.#leaveLeader();
    this.#leader = leader;
    const path = `${this.#contest.sessionsPath}/${leader}`;
    reads.watch(path, this);
    return reads.read(path);
  }

  /** Of the leader's session. */
  watchedChanged(_path: string, gone: boolean): void {
    if (this.#leader !== null) this.#dispatch({ type: 'leader_changed', session: this.#leader, gone });
  }

  #leaveLeader(): void {
    if (this.#leader !== null) this.#attachment.reads.unwatch(`${this.#contest.sessionsPath}/${this.#leader}`, this);
  }

  #readRecord(watch: boolean): Promise<RecordView> {
    return readRecord(this.#host, this.#attachment.session, this.#recordPath, watch);
  }

  #waitUntil(at: number): void {
    const { clock } = this.#host;
    const waitMs = at - clock.monotonic();
    const first = this.#patientSince === null;
    this.#patientSince ??= clock.monotonic();
    this.#alarm();
    this.#alarm = clock.after(waitMs, () => this.#dispatch({ type: 'alarm' }));
    if (first) this.#emit('patient', { waitMs });
  }

  async #claim(effect: Claim): Promise<void> {
    const { session, renewals, turns, leaseMs } = this.#attachment;
    const { paths, candidateId, metadata, touches } = this.#contest;
    const sessionNode = await renewals.prepare();
    const state = this.#state;
    const own = this.#own;
    if (this.#over || own === null || state?.name !== 'claiming') return;
    const term = { leaderId: candidateId, node: state.self.node, session: sessionNode, leaseMs, metadata };
    const record = claimedRecord(effect, term, this.#host.clock.wall());
    const { token } = effect;
    this.#dispatch({ type: 'claim_sent', sentAt: instant(this.#host.clock) });
    const touch = touches ? this.#contest.data : null;
    const written = writeClaim(session, paths, state.self.node, encodeRecord(record), effect.version, touch);
    // Where the claim isn't one transaction that asks for our node, a look right behind it shows that it was there all the same,
    // whatever became of its watch.
    const there = session.transaction === undefined ? own.arm().then((czxid) => czxid !== null) : Promise.resolve(true);
    // Read for the term, which doesn't wait for it: what has come in behind the claim shows, and what comes then is watched. Where
    // thousands claim at once, the claims go first.
    const behind = turns.take(() => this.#readRecord(true), 'last');
    for (const each of [there, behind]) each.catch(() => {});
    this.#emit('claiming', { term: effect.term, token });
    try {
      await written;
    } catch (error) {
      const unclear =
        isKind(error, 'bad_version', 'node_exists', 'no_node') ||
        (error instanceof CoordinatorError && error.retriable);
      if (!unclear) throw error;
      // The first claim of an election whose queue lies elsewhere: nothing has made the place of its record yet.
      if (isKind(error, 'no_node')) await untilAnswered(this.#host, session, () => ensurePath(session, paths.election));
      this.#emit('claim_unclear', { term: effect.term, token });
      this.#dispatch({ type: 'claim_unclear' });
      return;
    }
    this.#behind = behind;
    this.#dispatch(
      (await there)
        ? { type: 'claimed', view: { record, version: effect.version + 1, current: false } }
        : { type: 'own_node_gone' },
    );
  }

  /** Leaves the queue; a claim that may have been applied although its term was never opened is taken back first. */
  #giveUp(own: OwnNodeWatch): void {
    own.cancel();
    const { session } = this.#attachment;
    const state = this.#state;
    const token = state === null || state.name === 'waiting' ? null : claimedToken(state);
    if (token !== null) withdrawClaim(this.#host, session, this.#contest.paths, token);
    if (!own.others) void removeSurely(this.#host, session, own.path);
  }

  #regressed(state: Out): TokenRegressedError {
    const token = state.token ?? 0n;
    const recorded = state.highest;
    this.#emit('token_regressed', { token, recorded });
    return new TokenRegressedError(
      `election ${JSON.stringify(this.#contest.election)}: our token ${token} would not exceed ${recorded}, the token of ` +
        'the last term: the ensemble was restored from a backup or rebuilt. Raise the floor to the highest token that ' +
        `a resource has accepted, at least ${recorded}: tenure fence raise`,
    );
  }

  #tellRecord(state: CampaignState): void {
    if (state.view === null) return;
    const { record, current } = state.view;
    const watched = current && state.name !== 'out';
    this.#emit('record_seen', {
      recordedTerm: record.latest?.term ?? 0,
      paused: watched ? record.pause !== null : null,
    });
  }

  #emit<
    K extends
      | 'joined'
      | 'left'
      | 'position'
      | 'predecessor'
      | 'patient'
      | 'claiming'
      | 'claim_unclear'
      | 'record_seen'
      | 'token_regressed',
  >(name: K, fields: object): void {
    const { election, candidateId } = this.#contest;
    this.#host.emit(name, { election, candidateId, ...fields } as never);
  }
}

function claimedToken(state: Exclude<CampaignState, { name: 'waiting' }>): Token | null {
  if (state.name === 'claimed') return state.latest.token;
  if (state.name === 'out') return state.mayHaveClaimed ? state.token : null;
  return state.claimSentAt === null || state.view === null ? null : state.view.record.floor + state.self.czxid;
}
