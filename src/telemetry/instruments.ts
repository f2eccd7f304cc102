/**
 * Every instrument there is: the one source for the library, for what sets up an SDK, for docs/metrics.md and for the
 * checks of dashboards and alerts.
 *
 * OpenTelemetry's names carry the unit already (`….seconds`), so that Prometheus gets one name by every way: scraped from
 * the JavaScript exporter, which appends no unit, and over OTLP, which appends one unless it is there. Units in braces
 * are only notes: `1` would make `_ratio` of a gauge.
 */

/** Values of an attribute: all of them, or at most how many there are. */
export type Values = readonly string[] | number;

export interface Instrument {
  /**
   * The part of it that a collection takes in one turn of the event loop: a meter of its own, `tenure.<scope>`. Each has a
   * gauge, for it is gauges that are waited for.
   */
  readonly scope: string;
  /** OpenTelemetry's name. */
  readonly name: string;
  /** Prometheus's name. */
  readonly prometheus: string;
  readonly kind: 'counter' | 'histogram' | 'gauge';
  readonly unit: string;
  readonly attributes: Readonly<Record<string, Values>>;
  readonly description: string;
  /** The question of somebody on call that it answers. */
  readonly answers: string;
  /** Of a histogram. */
  readonly bounds?: readonly number[];
}

/** How many elections keep a label of their own in one process. */
export const MAX_ELECTIONS = 10_000;

/** How many of them keep it in histograms too, of which each is a dozen series. */
export const MAX_ELECTIONS_IN_HISTOGRAMS = 100;

/** The label of whatever has none of its own. */
export const OTHER = 'other';

export const ELECTION = 'election.name';

/** All reasons for which a term ends. Those of `GIVEN_UP` are orderly. */
export const LOSS_REASONS = [
  'lease_expired',
  'session_expired',
  'session_node_gone',
  'node_gone',
  'superseded',
  'resigned',
  'paused',
  'transferred',
  'held',
  'closed',
] as const;
export const SUSPECT_REASONS = [
  'connection_lost',
  'renewal_overdue',
  'process_paused',
  'suspended',
  'clock_jumped',
] as const;
export const CAUSES = ['resigned', 'paused', 'transferred', 'evicted', 'died', 'vanished'] as const;
export const MODES = [
  'leader',
  'follower',
  'observer',
  'standalone',
  'read-only',
  'looking',
  'down',
  'unknown',
] as const;
export const FENCE_OUTCOMES = ['accepted', 'stale', 'regressed', 'missing'] as const;
export const DUPLICATE_OUTCOMES = ['executed', 'suppressed'] as const;

/** A round trip through the quorum: half a millisecond on a good day, a session timeout on a bad one. */
const RENEWAL_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From an orderly handover to the longest of session timeouts. */
const TAKEOVER_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60];
/** A candidate may stand in the queue for days. */
const ELECTION_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3_600, 86_400];
const RECOVERY_BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];
const PAUSE_BOUNDS = [0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 300];

const elections = { [ELECTION]: MAX_ELECTIONS };
/** More than any sensible fleet guards, schedules or runs. */
const MAX_RESOURCES = 1_000;
const MAX_SERVERS = 100;

export const INSTRUMENTS = {
  leaderStatus: {
    scope: 'leader',
    name: 'leader_election.leader.status',
    prometheus: 'leader_election_leader_status',
    kind: 'gauge',
    unit: '{leader}',
    attributes: elections,
    description: '1 while this member holds the term, from its claim to its loss; else 0',
    answers: 'Who leads? Does anybody? Do two?',
  },
  term: {
    scope: 'term',
    name: 'leader_election.term',
    prometheus: 'leader_election_term',
    kind: 'gauge',
    unit: '{term}',
    attributes: elections,
    description: 'Number of the latest term that this member knows of; 0 before it knows of any',
    answers: 'How often does the leadership change? (changes of the maximum over all members)',
  },
  paused: {
    scope: 'pause',
    name: 'leader_election.paused',
    prometheus: 'leader_election_paused',
    kind: 'gauge',
    unit: '{pause}',
    attributes: elections,
    description:
      '1 while the election is paused, said by the members that watch its record (leader, successor); else 0',
    answers: 'Does nobody lead because somebody wanted that?',
  },
  foreignLeader: {
    scope: 'pause',
    name: 'leader_election.foreign_leader',
    prometheus: 'leader_election_foreign_leader',
    kind: 'gauge',
    unit: '{leader}',
    attributes: elections,
    description:
      '1 while a candidate of another library is first, said by members that stand right behind such a one; else 0',
    answers: 'Does nobody of ours lead because a candidate of another library does?',
  },
  leadershipAcquired: {
    scope: 'leader',
    name: 'leader_election.leadership.acquired',
    prometheus: 'leader_election_leadership_acquired_total',
    kind: 'counter',
    unit: '{term}',
    attributes: elections,
    description: 'Terms that this member has won',
    answers: 'Which member keeps winning?',
  },
  leadershipLost: {
    scope: 'term',
    name: 'leader_election.leadership.lost',
    prometheus: 'leader_election_leadership_lost_total',
    kind: 'counter',
    unit: '{term}',
    attributes: { ...elections, reason: LOSS_REASONS },
    description: 'Terms of this member that are over, by reason',
    answers: 'Why do leaders change: deployments, expired sessions, a slow quorum?',
  },
  renewalDuration: {
    scope: 'process',
    name: 'leader_election.renewal.duration.seconds',
    prometheus: 'leader_election_renewal_duration_seconds',
    kind: 'histogram',
    unit: 's',
    attributes: {},
    bounds: RENEWAL_BOUNDS,
    description: 'Round trip of a renewal that the quorum confirmed; one renewal carries all terms of a session',
    answers: 'How near is the quorum to losing us our leases?',
  },
  renewalFailures: {
    scope: 'process',
    name: 'leader_election.renewal.failures',
    prometheus: 'leader_election_renewal_failures_total',
    kind: 'counter',
    unit: '{renewal}',
    attributes: { 'error.type': 20 },
    description: 'Renewals that failed, by the kind of error',
    answers: 'Do renewals fail, and how?',
  },
  leaseRemaining: {
    scope: 'lease',
    name: 'leader_election.lease.remaining.seconds',
    prometheus: 'leader_election_lease_remaining_seconds',
    kind: 'gauge',
    unit: 's',
    attributes: elections,
    description: 'How long this member may still act without another renewal; 0 when it does not lead',
    answers: 'How much slack does the leader have?',
  },
  sessionTimeout: {
    scope: 'process',
    name: 'leader_election.session.timeout.seconds',
    prometheus: 'leader_election_session_timeout_seconds',
    kind: 'gauge',
    unit: 's',
    attributes: {},
    description: 'Session timeout that the ensemble granted; 0 between two sessions',
    answers: 'Which timeout is in force, and is there a session at all?',
  },
  sessionExpirations: {
    scope: 'process',
    name: 'leader_election.session.expirations',
    prometheus: 'leader_election_session_expirations_total',
    kind: 'counter',
    unit: '{session}',
    attributes: {},
    description: 'Sessions of this member that the ensemble has ended',
    answers: 'Are members frozen, starved or cut off for longer than their session lasts?',
  },
  electionDuration: {
    scope: 'queue',
    name: 'leader_election.election.duration.seconds',
    prometheus: 'leader_election_election_duration_seconds',
    kind: 'histogram',
    unit: 's',
    attributes: { ...elections, outcome: ['won', 'aborted', 'failed'] },
    bounds: ELECTION_BOUNDS,
    description: 'From joining the queue to the claim (won), or from the campaign to its end without one',
    answers: 'How long do candidates stand in the queue, and how do campaigns end?',
  },
  failoverDuration: {
    scope: 'sequence',
    name: 'leader_election.failover.duration.seconds',
    prometheus: 'leader_election_failover_duration_seconds',
    kind: 'histogram',
    unit: 's',
    attributes: { ...elections, cause: CAUSES },
    bounds: TAKEOVER_BOUNDS,
    description:
      'Time without a leader as the winner saw it: to its claim from the vacancy, or from the last renewal that it saw before an unannounced one',
    answers: 'How long did nobody lead, and after what?',
  },
  patienceDuration: {
    scope: 'candidates',
    name: 'leader_election.patience.duration.seconds',
    prometheus: 'leader_election_patience_duration_seconds',
    kind: 'histogram',
    unit: 's',
    attributes: elections,
    bounds: TAKEOVER_BOUNDS,
    description: 'Waited by the first candidate until an unannounced old lease was certainly over; near 0 otherwise',
    answers: 'What does safety against the old leader cost at a takeover?',
  },
  recoveryDuration: {
    scope: 'recovery',
    name: 'leader_election.recovery.duration.seconds',
    prometheus: 'leader_election_recovery_duration_seconds',
    kind: 'histogram',
    unit: 's',
    attributes: elections,
    bounds: RECOVERY_BOUNDS,
    description: 'From the claim to the end of the recover stage',
    answers: 'How long after its election does a leader begin to work?',
  },
  recovering: {
    scope: 'recovery',
    name: 'leader_election.recovering',
    prometheus: 'leader_election_recovering',
    kind: 'gauge',
    unit: '{term}',
    attributes: elections,
    description: '1 while this member leads and has not ended its recover stage yet; else 0',
    answers: 'Is a leader stuck in its recovery?',
  },
  candidates: {
    scope: 'candidates',
    name: 'leader_election.candidates',
    prometheus: 'leader_election_candidates',
    kind: 'gauge',
    unit: '{candidate}',
    attributes: elections,
    description:
      'Candidates in the queue, leader included, as the leader and its successor see it; 0 elsewhere: take the maximum',
    answers: 'Is there a standby?',
  },
  queuePosition: {
    scope: 'queue',
    name: 'leader_election.queue.position',
    prometheus: 'leader_election_queue_position',
    kind: 'gauge',
    unit: '{place}',
    attributes: elections,
    description: 'Place of this member in the queue, at most: 1 is first (leads, or will), 0 not in the queue',
    answers: 'Who is next?',
  },
  suspectEpisodes: {
    scope: 'lease',
    name: 'leader_election.suspect.episodes',
    prometheus: 'leader_election_suspect_episodes_total',
    kind: 'counter',
    unit: '{episode}',
    attributes: { ...elections, reason: SUSPECT_REASONS },
    description: 'Times that a leader could not vouch for its lease and stopped writing, by reason',
    answers: 'How often do leaders hesitate, and why?',
  },
  processPauseDuration: {
    scope: 'process',
    name: 'leader_election.process.pause.duration.seconds',
    prometheus: 'leader_election_process_pause_duration_seconds',
    kind: 'histogram',
    unit: 's',
    attributes: {},
    bounds: PAUSE_BOUNDS,
    description: 'Pauses of this process or its machine beyond the threshold, noticed while it led',
    answers: 'Is the process starved, frozen, or collecting garbage for too long?',
  },
  clockJumps: {
    scope: 'process',
    name: 'leader_election.clock.jumps',
    prometheus: 'leader_election_clock_jumps_total',
    kind: 'counter',
    unit: '{jump}',
    attributes: { direction: ['forward', 'backward'] },
    description: 'Jumps of the wall clock against the steady one beyond the threshold, noticed while it led',
    answers: "Is somebody setting this machine's clock?",
  },
  tokenRegressions: {
    scope: 'pause',
    name: 'leader_election.token.regressions',
    prometheus: 'leader_election_token_regressions_total',
    kind: 'counter',
    unit: '{campaign}',
    attributes: elections,
    description: 'Campaigns given up because their token would not have exceeded the last one',
    answers: 'Was the ensemble restored or rebuilt without raising the floor?',
  },
  fenceChecks: {
    scope: 'fencing',
    name: 'leader_election.fence.checks',
    prometheus: 'leader_election_fence_checks_total',
    kind: 'counter',
    unit: '{check}',
    attributes: { resource: MAX_RESOURCES, outcome: FENCE_OUTCOMES },
    description:
      'Checks of a token at a resource: accepted; stale (refused); regressed (refused though the lease is good: tokens went backwards); missing (no token)',
    answers: 'Did somebody who no longer leads try to write?',
  },
  tasksDuplicates: {
    scope: 'fencing',
    name: 'leader_election.tasks.duplicates',
    prometheus: 'leader_election_tasks_duplicates_total',
    kind: 'counter',
    unit: '{task}',
    attributes: { outcome: DUPLICATE_OUTCOMES },
    description: 'Tasks asked for again: suppressed, or (left unfinished before) executed again',
    answers: 'Was work repeated across a failover?',
  },
  taskLastSuccess: {
    scope: 'fencing',
    name: 'leader_election.task.last_success.timestamp.seconds',
    prometheus: 'leader_election_task_last_success_timestamp_seconds',
    kind: 'gauge',
    unit: 's',
    attributes: { task: MAX_RESOURCES },
    description: 'When the scheduled job last succeeded, in seconds since 1970; 0 for never. Take the maximum',
    answers: 'Is a job overdue?',
  },
  quorumVoters: {
    scope: 'ensemble',
    name: 'leader_election.quorum.voters',
    prometheus: 'leader_election_quorum_voters',
    kind: 'gauge',
    unit: '{server}',
    attributes: {},
    description: 'Servers that vote in the ensemble, by its dynamic configuration where that can be read',
    answers: 'How large is the ensemble?',
  },
  quorumVotersHealthy: {
    scope: 'ensemble',
    name: 'leader_election.quorum.voters.healthy',
    prometheus: 'leader_election_quorum_voters_healthy',
    kind: 'gauge',
    unit: '{server}',
    attributes: {},
    description: 'Voters that answer the probe and serve',
    answers: 'How many more servers may fail?',
  },
  quorumOk: {
    scope: 'ensemble',
    name: 'leader_election.quorum.ok',
    prometheus: 'leader_election_quorum_ok',
    kind: 'gauge',
    unit: '{quorum}',
    attributes: {},
    description:
      '1 when a leader and the followers that confirm it are a majority of the voters, seen from here; else 0',
    answers: 'Can anything be written? Without that nobody is elected and every lease runs out.',
  },
  serverLatency: {
    scope: 'ensemble',
    name: 'leader_election.server.latency.seconds',
    prometheus: 'leader_election_server_latency_seconds',
    kind: 'gauge',
    unit: 's',
    attributes: { server: MAX_SERVERS, stat: ['min', 'avg', 'max'] },
    description: "The server's own request latency since its start or last reset",
    answers: 'Which server is slow?',
  },
  serverMode: {
    scope: 'ensemble',
    name: 'leader_election.server.mode',
    prometheus: 'leader_election_server_mode',
    kind: 'gauge',
    unit: '{server}',
    attributes: { server: MAX_SERVERS, mode: MODES },
    description:
      '1 for the mode that the server is in, 0 for the others. looking: runs without a quorum; down: no answer',
    answers: 'What does each server do?',
  },
  serverZxidLag: {
    scope: 'ensemble',
    name: 'leader_election.server.zxid.lag',
    prometheus: 'leader_election_server_zxid_lag',
    kind: 'gauge',
    unit: '{transaction}',
    attributes: { server: MAX_SERVERS },
    description:
      "Transactions of the leader's epoch that the server has not applied yet; 0 for one that does not answer",
    answers: 'Does a follower fall behind?',
  },
  serverOutstanding: {
    scope: 'ensemble',
    name: 'leader_election.server.outstanding_requests',
    prometheus: 'leader_election_server_outstanding_requests',
    kind: 'gauge',
    unit: '{request}',
    attributes: { server: MAX_SERVERS },
    description: 'Requests that wait in the server',
    answers: 'Is a server overloaded?',
  },
  sequenceHeadroom: {
    scope: 'sequence',
    name: 'leader_election.sequence.headroom',
    prometheus: 'leader_election_sequence_headroom',
    kind: 'gauge',
    unit: '{candidate}',
    attributes: elections,
    description:
      "Candidates that the queue can still number before ZooKeeper's counter ends, as last seen by this member",
    answers: 'When must the queue be rotated?',
  },
  buildInfo: {
    scope: 'process',
    name: 'leader_election.build_info',
    prometheus: 'leader_election_build_info',
    kind: 'gauge',
    unit: '{build}',
    attributes: { version: 4, 'node.version': 4 },
    description: '1, with the version of Tenure and of Node.js',
    answers: 'Which versions run?',
  },
} as const satisfies Record<string, Instrument>;

export type InstrumentKey = keyof typeof INSTRUMENTS;

/** All instruments in the order of the table, with their common type. */
export const ALL_INSTRUMENTS: readonly Instrument[] = Object.values(INSTRUMENTS);

/** How many attribute sets an instrument may have, with one to spare for `other` in each bounded attribute. */
export function cardinality(instrument: Instrument): number {
  return Object.values(instrument.attributes).reduce<number>(
    (product, values) => product * (typeof values === 'number' ? values + 1 : values.length),
    1,
  );
}
