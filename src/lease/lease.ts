import { elapsed, type Instant } from './clock.js';

/** Default lease: this share of the session timeout T. */
const LEASE_SHARE = 2 / 3;

/** The longest lease that may be asked for, as a share of T. */
export const LEASE_SHARE_MAX = 0.9;

/** A leader is suspect once this share of its lease has passed without a confirmed renewal. */
const OVERDUE_SHARE = 0.5;

/** A renewal is written every T / this. */
export const RENEWALS_PER_TIMEOUT = 10;

/**
 * How long a leader may act: `lengthMs` from the moment at which it *sent* its last confirmed
 * renewal or claim. Counting from the reply would add the reply's delay to the lease, unseen by
 * everyone who waits for it to end.
 */
export interface Lease {
  readonly lengthMs: number;
  readonly from: Instant;
}

/** Milliseconds left, at most `lengthMs`; zero or less once it is over. */
export function leaseRemaining(lease: Lease, now: Instant): number {
  return lease.lengthMs - elapsed(lease.from, now);
}

/** The lease after a renewal that was sent at `sentAt` has been confirmed. Replies out of order never shorten it. */
export function renewed(lease: Lease, sentAt: Instant): Lease {
  return sentAt.monotonic > lease.from.monotonic ? { ...lease, from: sentAt } : lease;
}

/** Milliseconds from now until a renewal counts as overdue; zero or less once it does. */
export function untilOverdue(lease: Lease, now: Instant): number {
  return lease.lengthMs * OVERDUE_SHARE - elapsed(lease.from, now);
}

/** The lease that a session with timeout `timeoutMs` grants where the user has not chosen one. */
export function defaultLeaseMs(timeoutMs: number): number {
  return Math.floor(timeoutMs * LEASE_SHARE);
}
