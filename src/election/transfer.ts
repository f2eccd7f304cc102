import type { Transfer } from './record.js';

/**
 * A transfer as one candidate knows it. It is void once as much time has passed since it was first read here as lay
 * between its request and its deadline: two dates of one clock, and one monotonic clock. Nothing is decided by comparing
 * the wall clocks of two machines.
 */
export interface KnownTransfer {
  /** The target's node. */
  readonly to: string;
  /** Tells one request from another. */
  readonly at: string;
  /** Monotonic moment. */
  readonly voidAt: number;
  /** `sought`: we have asked whether it still stands. `absent`: it doesn't, so the transfer is void. */
  readonly target: 'unknown' | 'sought' | 'absent';
}

/** What is known of the transfer in a record that has just been read. */
export function knownTransfer(before: KnownTransfer | null, read: Transfer | null, now: number): KnownTransfer | null {
  if (read === null) return null;
  if (before !== null && before.to === read.to && before.at === read.at) return before;
  const lasts = Date.parse(read.deadline) - Date.parse(read.at);
  return { to: read.to, at: read.at, voidAt: now + Math.max(0, lasts || 0), target: 'unknown' };
}

/** Whether a candidate that is first is to step back for the target, as far as it knows. */
export function binds(transfer: KnownTransfer | null, node: string, now: number): transfer is KnownTransfer {
  return transfer !== null && transfer.to !== node && transfer.target !== 'absent' && now < transfer.voidAt;
}
