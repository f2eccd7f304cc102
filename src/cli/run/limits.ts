import { RENEWALS_PER_TIMEOUT } from '../../lease/lease.js';
import { showDuration } from '../duration.js';
import { UsageError } from '../usage-error.js';

/** What the ensemble has granted. Milliseconds. */
export interface Granted {
  readonly timeoutMs: number;
  readonly leaseMs: number;
}

/** The longest grace that a lease carries: past it the command would be told to end between two renewals that are on time. */
export function longestGraceMs({ timeoutMs, leaseMs }: Granted): number {
  return Math.max(0, Math.floor(leaseMs - (2 * timeoutMs) / RENEWALS_PER_TIMEOUT));
}

/** By default half of the lease: the command is told to end when a term turns suspect because its renewal is overdue. */
export function graceMs(asked: number | undefined, granted: Granted): number {
  return Math.min(asked ?? granted.leaseMs / 2, longestGraceMs(granted));
}

/** @throws {UsageError} naming both and the fix */
export function checkGrace(asked: number | undefined, granted: Granted): void {
  const longest = longestGraceMs(granted);
  if (asked === undefined || asked <= longest) return;
  throw new UsageError(
    `--grace ${showDuration(asked)} is too long for the lease of ${showDuration(granted.leaseMs)}, which a session timeout of ` +
      `${showDuration(granted.timeoutMs)} gives: at most ${showDuration(longest)}`,
    'a longer --session-timeout gives a longer lease',
  );
}
