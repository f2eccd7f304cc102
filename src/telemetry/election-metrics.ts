import type { EventName, TenureEvents } from '../election/events.js';
import type { InstrumentSet } from './instrument-set.js';
import { ELECTION, LOSS_REASONS, OTHER, SUSPECT_REASONS } from './instruments.js';
import type { ElectionLabels } from './labels.js';
import { Standing } from './standing.js';

type Handlers = { readonly [K in EventName]?: (event: TenureEvents[K]) => void };

/** Makes counts, durations and standings of one connection's events. */
export class ElectionMetrics {
  readonly standings = new Map<string, Standing>();
  readonly #labels: ElectionLabels;
  #set: InstrumentSet;

  constructor(set: InstrumentSet, labels: ElectionLabels) {
    this.#set = set;
    this.#labels = labels;
    this.use(set);
  }

  /** Reports to other instruments from now on. */
  use(set: InstrumentSet): void {
    this.#set = set;
    set.sessionExpirations.add(0);
    for (const direction of ['forward', 'backward']) set.clockJumps.add(0, { direction });
    for (const election of this.standings.keys()) this.#begin(election);
  }

  standing(election: string): Standing {
    let standing = this.standings.get(election);
    if (standing === undefined) {
      standing = new Standing();
      this.standings.set(election, standing);
      this.#begin(election);
    }
    return standing;
  }

  on<K extends EventName>(name: K, event: TenureEvents[K]): void {
    this.#handlers[name]?.(event as never);
  }

  /** Counters at 0 from the start: whoever looks at increases would miss the first step of one that is born as 1. */
  #begin(election: string): void {
    const label = this.#labels.inHistograms(election);
    if (label === OTHER) return;
    const set = this.#set;
    const attributes = { [ELECTION]: label };
    set.leadershipAcquired.add(0, attributes);
    set.tokenRegressions.add(0, attributes);
    for (const reason of LOSS_REASONS) set.leadershipLost.add(0, { ...attributes, reason });
    for (const reason of SUSPECT_REASONS) set.suspectEpisodes.add(0, { ...attributes, reason });
  }

  #of(election: string) {
    return { [ELECTION]: this.#labels.of(election) };
  }

  #inHistograms(election: string) {
    return { [ELECTION]: this.#labels.inHistograms(election) };
  }

  readonly #handlers: Handlers = {
    session_state: ({ state }) => {
      if (state === 'expired') this.#set.sessionExpirations.add(1);
      if (state === 'expired' || state === 'closed') for (const standing of this.standings.values()) standing.leftAll();
    },
    renewal_confirmed: ({ roundTripMs }) => this.#set.renewalDuration.record(roundTripMs / 1000),
    renewal_failed: ({ kind }) => this.#set.renewalFailures.add(1, { 'error.type': kind }),
    disturbed: ({ disturbance: { kind, ms } }) => {
      if (kind === 'clock_jumped') this.#set.clockJumps.add(1, { direction: ms > 0 ? 'forward' : 'backward' });
      else this.#set.processPauseDuration.record(ms / 1000);
    },
    joined: ({ election, candidateId, node, ahead }) => this.standing(election).joined(candidateId, node, ahead),
    left: ({ election, candidateId }) => this.standing(election).left(candidateId),
    position: ({ election, candidateId, ahead }) => this.standing(election).moved(candidateId, ahead),
    predecessor: ({ election, candidateId, foreign }) => this.standing(election).sawPredecessor(candidateId, foreign),
    record_seen: ({ election, candidateId, recordedTerm, paused }) => {
      const standing = this.standing(election);
      standing.sawTerm(recordedTerm);
      standing.sawPause(candidateId, paused === true);
    },
    campaign_ended: ({ election, candidateId, outcome, durationMs }) => {
      // A won one is counted by `elected`, from the place in the queue on.
      if (outcome === 'won') return;
      this.standing(election).left(candidateId);
      this.#set.electionDuration.record(durationMs / 1000, { ...this.#inHistograms(election), outcome });
    },
    elected: ({ election, candidateId, term, electionMs, failoverMs, patienceMs, cause }) => {
      const standing = this.standing(election);
      standing.sawTerm(term);
      standing.moved(candidateId, 0);
      standing.recovers(term);
      const attributes = this.#inHistograms(election);
      this.#set.leadershipAcquired.add(1, this.#of(election));
      this.#set.electionDuration.record(electionMs / 1000, { ...attributes, outcome: 'won' });
      if (cause === 'first') return;
      this.#set.patienceDuration.record(patienceMs / 1000, attributes);
      if (failoverMs !== null) this.#set.failoverDuration.record(failoverMs / 1000, { ...attributes, cause });
    },
    recovered: ({ election, term, durationMs }) => {
      this.standing(election).recovered(term);
      this.#set.recoveryDuration.record(durationMs / 1000, this.#inHistograms(election));
    },
    suspect: ({ election, reason }) => this.#set.suspectEpisodes.add(1, { ...this.#of(election), reason }),
    lost: ({ election, candidateId, term, reason }) => {
      const standing = this.standing(election);
      standing.recovered(term);
      standing.left(candidateId);
      this.#set.leadershipLost.add(1, { ...this.#of(election), reason });
    },
    token_regressed: ({ election }) => this.#set.tokenRegressions.add(1, this.#of(election)),
  };
}
