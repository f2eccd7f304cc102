import { CoordinatorError, TokenRegressedError } from '../errors.js';
import { type Cancel, instant } from '../lease/clock.js';
import type { Token } from '../token.js';
import type { CampaignEffect, CampaignEvent, CampaignState, Claimed, Out, RecordView } from './campaign.js';
import { campaignStep, enterQueue } from './campaign-step.js';
import { decodeCandidate, isForeign, parseObject } from './candidate.js';
import { writeClaim } from './claiming.js';
import type { Contest } from './contest.js';
import { withdrawClaim } from './ending.js';
import { enqueue, listed, type Place } from './enqueue.js';
import type { Host } from './host.js';
import { ensurePath, isKind } from './nodes.js';
import type { OwnNodeWatch } from './own-node.js';
import { removeSurely, sessionLives, untilAnswered } from './persistence.js';
import type { Attachment } from './port.js';
import { aheadOf } from './queue.js';
import { readRecord } from './reading.js';
import { encodeRecord, type TermOfRecord, type TermRecord } from './record.js';
import { abortable, orAborted } from './waiting.js';

export interface Won {
  readonly kind: 'claimed';
  readonly claimed: Claimed;
  readonly watch: OwnNodeWatch;
  readonly joinedAt: number;
  readonly patienceMs: number;
}

export type Outcome =
  | Won
  /** Our node, or the claim, was lost to somebody: join again. Or we step back for the target of a transfer: join again, behind it. */
  | { readonly kind: 'out'; readonly why: 'node_gone' | 'superseded' | 'stepped_back' }
  /** Somebody stands before us, and we were not to wait. */
  | { readonly kind: 'not_first' };

/**
 * One candidacy in one session: carries out what the campaign's reducer asks for, and tells it
 * what comes of it. All effects of a campaign are in this file.
 */
export class Candidacy {
  readonly #host: Host;
  readonly #attachment: Attachment;
  readonly #contest: Contest;
  readonly #cancels: Cancel[] = [];
  readonly #subscriptions = new Map<string, Cancel>();
  #state: CampaignState | null = null;
  #own: OwnNodeWatch | null = null;
  #alarm: Cancel = () => {};
  #patientSince: number | null = null;
  #over = false;
  #leaving: Error | null = null;
  #notify: () => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor(host: Host, attachment: Attachment, contest: Contest) {
    this.#host = host;
    this.#attachment = attachment;
    this.#contest = contest;
  }

  /**
   * Joins the queue and campaigns. Unless it ends in `claimed`, no node of ours is left, now or soon.
   *
   * @throws `signal.reason` when aborted; {@link CoordinatorError} when the session died;
   *   {@link TokenRegressedError}; {@link TermRecordError}
   */
  async run(wait: boolean, signal: AbortSignal | undefined): Promise<Outcome> {
    const { session, turns } = this.#attachment;
    const { paths, nodePrefix, data } = this.#contest;
    const joining = turns.take(() => enqueue(this.#host, session, paths.queue, nodePrefix, data));
    let place: Place | null;
    try {
      place = await orAborted(joining, signal);
    } catch (error) {
      joining.then(
        (late) => {
          if (late === null) return;
          late.watch.cancel();
          this.#discard(late.self.node);
        },
        () => {},
      );
      throw error;
    }
    if (place === null) return { kind: 'out', why: 'node_gone' };
    try {
      if (this.#leaving !== null) throw this.#leaving;
      const outcome = await this.#campaign(place, wait, signal);
      if (outcome.kind !== 'claimed') this.#giveUp(place);
      return outcome;
    } catch (error) {
      this.#giveUp(place);
      throw error;
    } finally {
      this.#stop();
    }
  }

  /** Gives it up, as an aborted signal would: `run` rejects with this error. */
  leave(error: Error): void {
    this.#leaving = error;
    this.#fail(error);
  }

  async #campaign(place: Place, wait: boolean, signal: AbortSignal | undefined): Promise<Outcome> {
    const { session } = this.#attachment;
    const { clock } = this.#host;
    const joinedAt = clock.monotonic();
    this.#own = place.watch;
    place.watch.listen({
      gone: () => this.#dispatch({ type: 'own_node_gone' }),
      unsure: () => this.#dispatch({ type: 'own_node_unsure' }),
      sure: () => this.#dispatch({ type: 'own_node_sure' }),
    });
    this.#cancels.push(
      session.onNode(this.#contest.paths.term, () => this.#dispatch({ type: 'record_changed' })),
      session.onState((now) => {
        if (now === 'disconnected') this.#dispatch({ type: 'disconnected' });
        if (!sessionLives(session))
          this.#fail(new CoordinatorError('session_expired', 'campaign', this.#contest.paths.queue));
      }),
    );
    this.#emit('joined', { node: place.self.node, ahead: place.queue.length });
    if (!wait && place.queue.length > 0) return { kind: 'not_first' };
    if (!sessionLives(session)) throw new CoordinatorError('session_expired', 'campaign', this.#contest.paths.queue);
    const ended = abortable<Claimed | Out>(signal, (resolve, reject) => {
      this.#fail = reject;
      this.#notify = () => {
        const state = this.#state;
        if (state?.name === 'claimed' || state?.name === 'out') resolve(state);
      };
      return () => {
        this.#over = true;
      };
    });
    this.#apply(enterQueue(place.self, place.queue, joinedAt));
    if (place.watch.gone) this.#dispatch({ type: 'own_node_gone' });
    const state = await ended;
    if (state.name === 'claimed') {
      const since = this.#patientSince ?? state.sentAt.monotonic;
      return {
        kind: 'claimed',
        claimed: state,
        watch: place.watch,
        joinedAt,
        patienceMs: Math.max(0, state.sentAt.monotonic - since),
      };
    }
    if (state.why === 'token_regressed') throw this.#regressed(state);
    return { kind: 'out', why: state.why };
  }

  #dispatch(event: CampaignEvent): void {
    if (this.#over || this.#state === null) return;
    this.#apply(campaignStep(this.#state, event, this.#host.clock.monotonic(), this.#contest.rules));
  }

  #apply([state, effects]: readonly [CampaignState, readonly CampaignEffect[]]): void {
    const before = this.#state;
    this.#state = state;
    if (state.name === 'waiting' && before?.name === 'waiting' && state.position < before.position) {
      this.#emit('position', { ahead: state.position });
    }
    if (state.name === 'patient' && before?.name !== 'patient') this.#emit('position', { ahead: 0 });
    if (state.view !== null && state.view.record !== before?.view?.record) this.#tellRecord(state);
    this.#notify();
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: CampaignEffect): void {
    const { session, renewals, turns } = this.#attachment;
    const { paths, sessionsPath } = this.#contest;
    switch (effect.do) {
      case 'watch_predecessor': {
        const { node } = effect;
        this.#answer(
          this.#watchedRead('predecessor', `${paths.queue}/${node}`, (gone) =>
            this.#dispatch({ type: 'predecessor_changed', node, gone }),
          ),
          (found) => {
            if (found !== null)
              this.#emit('predecessor', { node, foreign: isForeign(node, decodeCandidate(found.data)) });
            this.#dispatch({ type: 'predecessor', node, found: found !== null });
          },
        );
        break;
      }
      case 'watch_leader': {
        const leader = effect.session;
        this.#answer(
          this.#watchedRead('leader', `${sessionsPath}/${leader}`, (gone) =>
            this.#dispatch({ type: 'leader_changed', session: leader, gone }),
          ),
          (found) =>
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

  /** One subscription for each role: it moves along when the predecessor or the leader becomes another. */
  #watchedRead(role: string, path: string, changed: (gone: boolean) => void) {
    const { session } = this.#attachment;
    this.#subscriptions.get(role)?.();
    const cancel = session.onNode(path, (change) => changed(change === 'deleted'));
    this.#subscriptions.set(role, cancel);
    return role === 'leader'
      ? this.#attachment.reads.read(path)
      : untilAnswered(this.#host, session, () => session.read(path, { watch: true }));
  }

  #readRecord(watch: boolean): Promise<RecordView> {
    return readRecord(this.#host, this.#attachment.session, this.#contest.paths.term, watch);
  }

  #waitUntil(at: number): void {
    const { clock } = this.#host;
    const waitMs = at - clock.monotonic();
    if (this.#patientSince === null) {
      this.#patientSince = clock.monotonic();
      this.#emit('patient', { waitMs });
    }
    this.#alarm();
    this.#alarm = clock.after(waitMs, () => this.#dispatch({ type: 'alarm' }));
  }

  async #claim(effect: Claim): Promise<void> {
    const { session, renewals, leaseMs } = this.#attachment;
    const { paths, candidateId, metadata } = this.#contest;
    const sessionNode = await renewals.prepare();
    const state = this.#state;
    const own = this.#own;
    if (this.#over || own === null || state?.name !== 'claiming') return;
    const term = { leaderId: candidateId, node: state.self.node, session: sessionNode, leaseMs, metadata };
    const data = encodeRecord(claimedRecord(effect, term, this.#host.clock.wall()));
    const { token } = effect;
    this.#emit('claiming', { term: effect.term, token });
    this.#dispatch({ type: 'claim_sent', sentAt: instant(this.#host.clock) });
    const write = writeClaim(session, paths, state.self.node, data, effect.version);
    // Sent right behind the claim: the watch on the record is in place from the moment at which the claim is applied,
    // and our node is seen to have been there after it, whatever became of its watch.
    const behind = Promise.all([this.#readRecord(true), own.arm()]);
    behind.catch(() => {});
    try {
      await write;
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
    const [view, czxid] = await behind;
    this.#dispatch(czxid === null ? { type: 'own_node_gone' } : { type: 'claimed', view });
  }

  /** Leaves the queue; a claim that may have been applied although its term was never opened is taken back first. */
  #giveUp(place: Place): void {
    place.watch.cancel();
    const { session } = this.#attachment;
    const state = this.#state;
    const token = state === null || state.name === 'waiting' ? null : claimedToken(state);
    if (token !== null) withdrawClaim(this.#host, session, this.#contest.paths, token);
    this.#discard(place.self.node);
  }

  #discard(node: string): void {
    void removeSurely(this.#host, this.#attachment.session, `${this.#contest.paths.queue}/${node}`);
  }

  #stop(): void {
    this.#over = true;
    this.#alarm();
    for (const cancel of this.#subscriptions.values()) cancel();
    for (const cancel of this.#cancels) cancel();
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

type Claim = CampaignEffect & { do: 'claim' };
type Claimant = Pick<TermOfRecord, 'leaderId' | 'node' | 'session' | 'leaseMs' | 'metadata'>;

/** The record with our term in it. What an operator has set stays, but for a transfer: a claim fulfils or voids it. */
function claimedRecord({ base, term, token, previous }: Claim, claimant: Claimant, wallMs: number): TermRecord {
  const electedAt = new Date(wallMs).toISOString();
  return { ...base, latest: { term, token, ...claimant, electedAt, ended: null }, transfer: null, previous };
}
