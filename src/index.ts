/**
 * Elections: connect, lead, observe, control. What they throw is here too.
 *
 * @module tenure
 */
export type { AclEntry, DriverOptions } from './driver.js';
export type { CandidateData, Metadata } from './election/candidate.js';
export type { Order } from './election/control.js';
export type { ControlOptions, EvictOptions, RaiseFloorOptions, TransferOptions } from './election/control-options.js';
export type { Evicted } from './election/controls.js';
export type { CampaignOptions, Election, Health } from './election/election.js';
export type { ElectionEvent, TenureEvents, TermEvent } from './election/events.js';
export type { ControlChange, EndedTerm, HistoryEntry } from './election/history.js';
export type { DrainReason, SuspectReason, TermState } from './election/holding.js';
export type { HoldOptions } from './election/holds.js';
export type { Logger } from './election/host.js';
export type { LeadOptions, Worker } from './election/lead.js';
export type { EndHow, Pause, PreviousTerm, Transfer } from './election/record.js';
export type { Removed } from './election/removal.js';
export type { Term } from './election/term.js';
export type { CandidateView, ElectionView, LeaderView } from './election/view.js';
export * from './errors.js';
export type { Cancel } from './lease/clock.js';
export type { Disturbance } from './lease/disturbance.js';
export type { ConnectOptions, ElectionOptions, ProbeOptions } from './options.js';
export { type FencingMetricsOptions, fencingMetrics } from './telemetry/fencing-metrics.js';
export type { ElectionLabelOptions } from './telemetry/labels.js';
export { connect, type Emitted, type Tenure } from './tenure.js';
export { formatToken, parseToken, type Token } from './token.js';
export type { EnsembleHealth, ServerHealth } from './zookeeper/ensemble.js';
export type { Word } from './zookeeper/four-letter-words.js';
export type { ServerMode, ServerStatus } from './zookeeper/server-status.js';
export type { TlsOptions } from './zookeeper/wire/tls.js';
