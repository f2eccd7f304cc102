import type { Instant } from '../lease/clock.js';
import { patienceBasis, patienceEnds, type Sightings } from '../lease/patience.js';
import { MAX_TOKEN, type Token } from '../token.js';
import type {
  CampaignEffect,
  CampaignEvent,
  CampaignRules,
  CampaignState,
  Claiming,
  Out,
  Patient,
  RecordView,
  Self,
  Standing,
  Waiting,
} from './campaign.js';
import type { EndHow, PreviousTerm, TermOfRecord, TermRecord } from './record.js';
import { binds, type KnownTransfer, knownTransfer } from './transfer.js';

export type Step = readonly [CampaignState, readonly CampaignEffect[]];

/** The state right after joining: `queue` are those before us, first come first. `now` is monotonic. */
export function enterQueue(self: Self, queue: readonly string[], now: number): Step {
  const standing: Standing = { self, view: null, leader: null, mourned: null, transfer: null, sure: true };
  return queue.length === 0
    ? first(standing, now)
    : follow({ name: 'waiting', ...standing, queue, position: queue.length, misses: 0 });
}

/** The predecessor that is watched, or null when first. */
export function predecessorOf(state: CampaignState): string | null {
  return state.name === 'waiting' ? (state.queue[state.position - 1] ?? null) : null;
}

export function campaignStep(state: CampaignState, event: CampaignEvent, now: number, rules: CampaignRules): Step {
  if (state.name === 'out' || state.name === 'claimed') return [state, []];
  switch (event.type) {
    case 'own_node_gone':
      return [out(state, 'node_gone'), []];
    case 'own_node_unsure':
      return [{ ...state, sure: false }, []];
    case 'own_node_sure': {
      const next = { ...state, sure: true };
      return next.name === 'patient' ? decide(next, now, rules) : [next, []];
    }
    case 'record_changed':
      return recordChanged(state);
    case 'disconnected':
      return disconnected(state);
    case 'leader_changed':
      return leaderChanged(state, event);
    case 'leader_seen':
      return leaderSeen(state, event, now, rules);
    default:
  }
  switch (state.name) {
    case 'waiting':
      return waitingStep(state, event, now, rules);
    case 'patient':
      return patientStep(state, event, now, rules);
    case 'claiming':
      return claimingStep(state, event);
  }
}

// --- waiting ---------------------------------------------------------------------------------

function waitingStep(state: Waiting, event: CampaignEvent, now: number, rules: CampaignRules): Step {
  switch (event.type) {
    case 'predecessor':
      if (event.node !== predecessorOf(state)) return [state, []];
      return event.found ? [{ ...state, misses: 0 }, []] : pass({ ...state, misses: state.misses + 1 }, now, rules);
    case 'predecessor_changed':
      if (event.node !== predecessorOf(state)) return [state, []];
      return event.gone ? pass(state, now, rules) : follow(state, true);
    case 'listed': {
      const next = { ...state, queue: event.queue, position: event.queue.length, misses: 0 };
      return next.position === 0 ? firstAfter(next, now, rules) : follow(next);
    }
    case 'record':
      return placed({ ...state, ...learned(state, event.view, now) }, now, rules);
    default:
      return [state, []];
  }
}

/**
 * Watches the predecessor, then reads the record: in this order, so that a claim of the predecessor can't fall between. With a
 * watch where that predecessor leads, or is the first and so about to.
 */
function follow(state: Waiting, watch = state.leader !== null || state.position === 1): Step {
  const node = predecessorOf(state);
  if (node === null) throw new Error('a waiting candidate has a predecessor');
  return [
    state,
    [
      { do: 'watch_predecessor', node },
      { do: 'read_record', watch },
    ],
  ];
}

/** The predecessor is gone: if it was the leader of record nobody older is left; else step to the next one. */
function pass(state: Waiting, now: number, rules: CampaignRules): Step {
  const next = { ...state, position: state.position - 1 };
  const known = next.view === null ? next : prune(next, next.view.record);
  if (known.position === 0) return firstAfter(known, now, rules);
  if (known.misses >= 2) return [known, [{ do: 'list' }]];
  return follow(known);
}

/** A leader was first when it claimed: whoever stood before it in our own list is gone. */
function prune(state: Waiting, record: TermRecord): Waiting {
  const place = record.latest === null ? -1 : state.queue.indexOf(record.latest.node);
  return place < state.position ? state : { ...state, position: 0 };
}

/** The record has been read while we wait: it shows whether the predecessor leads. */
function placed(state: Waiting & { view: RecordView }, now: number, rules: CampaignRules): Step {
  const { latest } = state.view.record;
  const pruned = prune(state, state.view.record);
  if (pruned.position === 0) return firstAfter(pruned, now, rules);
  if (latest === null || latest.node !== predecessorOf(state)) return [state, []];
  const effects: CampaignEffect[] = [];
  if (!state.view.current) effects.push({ do: 'read_record', watch: true });
  if (state.leader?.session === latest.session) return [state, effects];
  effects.push({ do: 'prepare' }, { do: 'watch_leader', session: latest.session });
  return [{ ...state, leader: { session: latest.session, sightings: { kind: 'unseen' }, ended: false } }, effects];
}

// --- the leader's signs of life --------------------------------------------------------------

type Standings = Waiting | Patient | Claiming;

/** A reply without a watch, behind one with a watch that has not fired since, takes nothing from that. */
function newer(known: RecordView | null, read: RecordView): RecordView {
  return known?.current === true && known.version === read.version ? { ...read, current: true } : read;
}

/** Where there is no record no watch can be left; a claim that creates it is refused if somebody else did. */
function isCurrent(view: RecordView): boolean {
  return view.current || view.version === -1;
}

function recordChanged(state: Standings): Step {
  if (state.view === null) return [state, []];
  const next = { ...state, view: { ...state.view, current: false } };
  // A waiting candidate that is not the successor has left this watch behind; one that claims reads the record anyway.
  const reads = state.name === 'patient' || (state.name === 'waiting' && state.leader !== null);
  return [next, reads ? [{ do: 'read_record', watch: true }] : []];
}

/**
 * What was missed is announced after the reconnect, but in no particular order: a vacancy may come ahead of a
 * renewal that is older. So the sightings have a gap until the session node has been read again.
 */
function disconnected(state: Standings): Step {
  if (state.leader === null) return [state, []];
  const { session, ended } = state.leader;
  return [{ ...state, leader: { session, ended, sightings: { kind: 'gap' } } }, [{ do: 'watch_leader', session }]];
}

function leaderChanged(state: Standings, event: { session: string; gone: boolean }): Step {
  if (state.leader?.session !== event.session) return [state, []];
  // Gone: it is never made again under this name, so what we saw of it was the last.
  if (event.gone) return [state, []];
  return [
    { ...state, leader: { ...state.leader, sightings: { kind: 'gap' } } },
    [{ do: 'watch_leader', session: event.session }],
  ];
}

function leaderSeen(
  state: Standings,
  event: { session: string; found: boolean; ended: boolean },
  now: number,
  rules: CampaignRules,
): Step {
  if (state.leader?.session !== event.session) return [state, []];
  // Not found: the last renewal may be as new as this moment. A sighting is dated by the reply, which is now.
  const sightings: Sightings = { kind: 'armed', at: now };
  const next = { ...state, leader: { session: event.session, sightings, ended: event.ended } };
  return next.name === 'patient' ? decide(next, now, rules) : [next, []];
}

// --- patient ---------------------------------------------------------------------------------

function first(standing: Standing, now: number): Step {
  const state: Patient = {
    name: 'patient',
    self: standing.self,
    view: standing.view,
    leader: standing.leader,
    mourned: standing.mourned,
    transfer: standing.transfer,
    sure: standing.sure,
    vacancyAt: now,
    claimSentAt: null,
  };
  return [state, [{ do: 'prepare' }, { do: 'read_record', watch: true }]];
}

/** First after having waited: what the successor knows of the record, or is reading already, isn't read again. */
function firstAfter(state: Waiting, now: number, rules: CampaignRules): Step {
  const [next, effects] = first(state, now);
  if (next.name !== 'patient' || state.leader === null) return [next, effects];
  return next.view !== null && isCurrent(next.view) ? decide(next, now, rules) : [next, []];
}

/** What a record that has just been read tells whoever stands in the queue. */
function learned(state: Waiting | Patient, read: RecordView, now: number) {
  return {
    view: newer(state.view, read),
    mourned: unended(read.record, state.mourned),
    transfer: knownTransfer(state.transfer, read.record.transfer, now),
  };
}

function unended(record: TermRecord, before: TermOfRecord | null): TermOfRecord | null {
  const { latest } = record;
  // A record that has been deleted says nothing about the term that it held.
  if (latest === null) return before;
  // Whom an operator evicts may not know of it yet.
  return latest.ended === null || latest.ended.how === 'evicted' ? latest : null;
}

function patientStep(state: Patient, event: CampaignEvent, now: number, rules: CampaignRules): Step {
  switch (event.type) {
    case 'record': {
      const news = learned(state, event.view, now);
      const { mourned } = news;
      // A term that we had not heard of before has ended at this moment at the latest.
      const vacancyAt = mourned !== null && mourned.token !== state.mourned?.token ? now : state.vacancyAt;
      const next = { ...state, ...news, vacancyAt };
      // Read before we were first, without a watch: what we decide by must be watched.
      if (!isCurrent(next.view)) return [next, [{ do: 'read_record', watch: true }]];
      return decide(next, now, rules);
    }
    case 'target':
      return sought(state, event, now, rules);
    case 'alarm':
      return decide(state, now, rules);
    default:
      return [state, []];
  }
}

/** First: may we claim now? Asked again at each event that could change the answer. */
function decide(state: Patient, now: number, rules: CampaignRules): Step {
  const { view, self, mourned } = state;
  if (!state.sure) return [state, []];
  if (view === null || !isCurrent(view)) return [state, []];
  const { record } = view;
  const token = record.floor + self.czxid;
  // Nobody else names our node. Its token tells nothing: the floor may have been raised since.
  if (record.latest?.node === self.node && state.claimSentAt !== null) {
    return opened(state, view, null, record.latest, state.claimSentAt);
  }
  if (record.pause !== null) return [state, []];
  if (binds(state.transfer, self.node, now)) return seek(state, state.transfer);
  if (token <= highestKnown(state) || token > MAX_TOKEN) return [out(state, 'token_regressed'), []];
  const announced = mourned === null || (state.leader?.session === mourned.session && state.leader.ended);
  if (!announced) {
    const ends = patienceEnds(
      patienceBasis(sightingsOf(state), state.vacancyAt),
      mourned.leaseMs,
      rules.takeoverDelayMs,
    );
    if (now < ends) return [state, [{ do: 'alarm', at: ends }]];
  }
  const died = mourned !== null && announced;
  return [
    { ...state, name: 'claiming', token },
    [
      {
        do: 'claim',
        base: record,
        version: view.version,
        term: (record.latest?.term ?? 0) + 1,
        token,
        previous: previousTerm(record.latest, died ? 'died' : 'vanished'),
      },
    ],
  ];
}

/** The answer: the target still stands, and we step back for it; or it doesn't, and the transfer is void. */
function sought(state: Patient, event: { node: string; found: boolean }, now: number, rules: CampaignRules): Step {
  const { transfer, view, self } = state;
  if (transfer?.to !== event.node) return [state, []];
  // Another record may have been announced, or read, while we asked.
  const asked = view !== null && isCurrent(view) && view.record.pause === null && binds(transfer, self.node, now);
  if (event.found && asked) return [out(state, 'stepped_back'), []];
  return decide({ ...state, transfer: { ...transfer, target: event.found ? 'unknown' : 'absent' } }, now, rules);
}

/** Before we step back: does the target still stand? It did when the transfer was written, so a server that shows that shows it too. */
function seek(state: Patient, transfer: KnownTransfer): Step {
  if (transfer.target === 'sought') return [state, []];
  return [{ ...state, transfer: { ...transfer, target: 'sought' } }, [{ do: 'seek', node: transfer.to }]];
}

function sightingsOf(state: Patient | Claiming): Sightings {
  return state.leader !== null && state.leader.session === state.mourned?.session
    ? state.leader.sightings
    : { kind: 'unseen' };
}

function previousTerm(latest: TermOfRecord | null, unannounced: EndHow): PreviousTerm | null {
  if (latest === null) return null;
  const { term, token, leaderId, ended } = latest;
  return { term, token, leaderId, end: ended?.how ?? unannounced };
}

// --- claiming --------------------------------------------------------------------------------

function claimingStep(state: Claiming, event: CampaignEvent): Step {
  switch (event.type) {
    case 'claim_sent':
      return [{ ...state, claimSentAt: state.claimSentAt ?? event.sentAt }, []];
    case 'claimed': {
      const { latest } = event.view.record;
      if (latest === null || state.claimSentAt === null) return [state, []];
      return opened(state, event.view, state.view?.record ?? null, latest, state.claimSentAt);
    }
    case 'claim_unclear': {
      const { token: _, ...rest } = state;
      return [{ ...rest, name: 'patient' }, [{ do: 'read_record', watch: true }]];
    }
    // While a claim is under way its outcome alone decides.
    default:
      return [state, []];
  }
}

function opened(
  state: Patient | Claiming,
  view: RecordView,
  replaced: TermRecord | null,
  latest: TermOfRecord,
  sentAt: Instant,
): Step {
  const { self, mourned, vacancyAt } = state;
  const announced = mourned === null || (state.leader?.session === mourned.session && state.leader.ended);
  const leaderlessSince = announced ? vacancyAt : patienceBasis(sightingsOf(state), vacancyAt);
  const { previous } = view.record;
  return [{ name: 'claimed', self, view, latest, previous, replaced, sentAt, leaderlessSince }, []];
}

function out(state: Standings, why: Out['why']): Out {
  const token = state.view === null ? null : state.view.record.floor + state.self.czxid;
  const mayHaveClaimed = state.name !== 'waiting' && state.claimSentAt !== null;
  return { name: 'out', why, view: state.view, token, highest: highestKnown(state), mayHaveClaimed };
}

/** Of the record, and of a term that we know of although its record was deleted by hand: with that its floor is forgotten. */
function highestKnown({ view, mourned }: Standing): Token {
  const recorded = view?.record.latest?.token ?? 0n;
  const known = mourned?.token ?? 0n;
  return recorded > known ? recorded : known;
}
