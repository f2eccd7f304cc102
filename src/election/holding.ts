import type { LossReason } from '../errors.js';
import type { Instant } from '../lease/clock.js';
import { type Lease, leaseRemaining, renewed, untilOverdue } from '../lease/lease.js';
import type { Token } from '../token.js';
import type { Judgement } from './judgement.js';
import type { EndHow } from './record.js';

/**
 * A term from its claim to its end, as a pure reducer:
 *
 *     recovering → leading → draining → lost
 *
 * Any of the first three may be in doubt: something has happened since the last confirmed renewal
 * that makes it unsafe to vouch for the lease. `recovering` and `leading` in doubt are what users
 * see as `suspect`. Doubt ends when a renewal that was *sent* after it arose is confirmed.
 *
 * Lost is for good: nothing leads out of it.
 */

export type SuspectReason = 'connection_lost' | 'renewal_overdue' | 'process_paused' | 'suspended' | 'clock_jumped';

export interface Doubt {
  readonly reason: SuspectReason;
  readonly since: Instant;
}

/** Why a leader steps down of its own accord or because an operator asks; `superseded`: the floor was raised above its token. */
export type DrainReason = 'resigned' | 'paused' | 'transferred' | 'held' | 'closed' | 'superseded';

interface Live {
  readonly token: Token;
  readonly lease: Lease;
  readonly doubt: Doubt | null;
}

export type Holding =
  | (Live & { readonly name: 'recovering' | 'leading' })
  /** The signal is aborted; the worker may finish what it began. `settled`: it has. */
  | (Live & { readonly name: 'draining'; readonly why: DrainReason })
  | { readonly name: 'lost'; readonly reason: LossReason };

/** What a user sees of it. */
export type TermState = 'recovering' | 'leading' | 'suspect' | 'draining' | 'lost';

export type HoldingEvent =
  | { readonly type: 'confirmed'; readonly sentAt: Instant }
  | { readonly type: 'doubt'; readonly reason: SuspectReason }
  | { readonly type: 'connected' }
  | { readonly type: 'alarm' }
  | { readonly type: 'recovered' }
  | { readonly type: 'drain'; readonly why: DrainReason }
  /** The worker has settled, or its time to drain is over: give the leadership up. */
  | { readonly type: 'release'; readonly settled: boolean }
  /** The record was read. */
  | { readonly type: 'record'; readonly says: Judgement }
  | { readonly type: 'gone'; readonly reason: 'session_expired' | 'session_node_gone' | 'node_gone' | 'closed' };

export type HoldingEffect =
  | { readonly do: 'renew' }
  /** Look again at the latest in this many milliseconds. */
  | { readonly do: 'alarm'; readonly inMs: number }
  /** Abort the term's signal. Always the first effect, so that the worker knows before anybody else. */
  | { readonly do: 'abort'; readonly reason: LossReason }
  /** Take our node out of the queue; announce the end first where the worker has certainly stopped. */
  | { readonly do: 'release'; readonly announce: EndHow | null };

export type HoldingStep = readonly [Holding, readonly HoldingEffect[]];

export function holdingState(holding: Holding): TermState {
  if (holding.name === 'recovering' || holding.name === 'leading') {
    return holding.doubt === null ? holding.name : 'suspect';
  }
  return holding.name;
}

/** Whether the holder may act at this moment: never in doubt, never past the lease, whatever timers did. */
export function mayAct(holding: Holding, now: Instant): boolean {
  return holding.name !== 'lost' && holding.doubt === null && leaseRemaining(holding.lease, now) > 0;
}

export function remainingMs(holding: Holding, now: Instant): number {
  return holding.name === 'lost' ? 0 : Math.max(0, leaseRemaining(holding.lease, now));
}

/** The term right after its claim was confirmed. */
export function open(token: Token, lease: Lease, now: Instant): HoldingStep {
  return watched({ name: 'recovering', token, lease, doubt: null }, now, []);
}

export function holdingStep(holding: Holding, event: HoldingEvent, now: Instant): HoldingStep {
  if (holding.name === 'lost') return [holding, []];
  // Before anything else: news that arrives after the end can't bring the lease back, not even a confirmed renewal.
  if (leaseRemaining(holding.lease, now) <= 0) return lose(holding, 'lease_expired');
  switch (event.type) {
    case 'confirmed':
      return watched(confirmed(holding, event.sentAt), now, []);
    case 'doubt':
      return watched({ ...holding, doubt: { reason: event.reason, since: now } }, now, [{ do: 'renew' }]);
    case 'connected':
      return [holding, [{ do: 'renew' }]];
    case 'alarm':
      return watched(holding, now, []);
    case 'recovered':
      return [holding.name === 'recovering' ? { ...holding, name: 'leading' } : holding, []];
    case 'drain':
      return drain(holding, event.why);
    case 'release':
      return release(holding, event.settled);
    case 'record':
      return told(holding, event.says);
    case 'gone':
      return lose(holding, event.reason);
  }
}

type LiveHolding = Exclude<Holding, { name: 'lost' }>;

function confirmed(holding: LiveHolding, sentAt: Instant): LiveHolding {
  const vouched = holding.doubt === null || sentAt.monotonic >= holding.doubt.since.monotonic;
  return { ...holding, lease: renewed(holding.lease, sentAt), doubt: vouched ? null : holding.doubt };
}

/** Notices an overdue renewal, and asks to be woken at the next moment at which something may be due. */
function watched(holding: LiveHolding, now: Instant, effects: readonly HoldingEffect[]): HoldingStep {
  const remaining = leaseRemaining(holding.lease, now);
  if (remaining <= 0) return lose(holding, 'lease_expired');
  const overdueIn = untilOverdue(holding.lease, now);
  if (holding.doubt === null && overdueIn <= 0) {
    const doubt: Doubt = { reason: 'renewal_overdue', since: now };
    return [{ ...holding, doubt }, [...effects, { do: 'renew' }, { do: 'alarm', inMs: remaining }]];
  }
  const inMs = holding.doubt === null ? overdueIn : remaining;
  return [holding, [...effects, { do: 'alarm', inMs }]];
}

function told(holding: LiveHolding, says: Judgement): HoldingStep {
  switch (says) {
    case 'ours':
      return [holding, []];
    case 'superseded':
    case 'evicted':
      return lose(holding, 'superseded');
    case 'paused':
    case 'transferred':
      return drain(holding, says);
    case 'below_floor':
      return drain(holding, 'superseded');
  }
}

function drain(holding: LiveHolding, why: DrainReason): HoldingStep {
  if (holding.name === 'draining') return [holding, []];
  const { token, lease, doubt } = holding;
  return [{ name: 'draining', token, lease, doubt, why }, [{ do: 'abort', reason: why }]];
}

const ANNOUNCED: Readonly<Record<DrainReason, EndHow>> = {
  resigned: 'resigned',
  closed: 'resigned',
  held: 'resigned',
  superseded: 'resigned',
  paused: 'paused',
  transferred: 'transferred',
};

function release(holding: LiveHolding, settled: boolean): HoldingStep {
  const why = holding.name === 'draining' ? holding.why : 'resigned';
  const effects: HoldingEffect[] = holding.name === 'draining' ? [] : [{ do: 'abort', reason: why }];
  return [{ name: 'lost', reason: why }, [...effects, { do: 'release', announce: settled ? ANNOUNCED[why] : null }]];
}

/** Our node is taken away too, without a word: the worker may not have stopped yet, so the successor must be patient. */
function lose(holding: LiveHolding, reason: LossReason): HoldingStep {
  const effects: HoldingEffect[] = holding.name === 'draining' ? [] : [{ do: 'abort', reason }];
  return [{ name: 'lost', reason }, [...effects, { do: 'release', announce: null }]];
}
