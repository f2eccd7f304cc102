import type { Order } from './control.js';

/** What every call that changes an election for all takes: who asks for it, and why. */
export interface ControlOptions extends Order {
  /** Gives up; the change may have been made all the same. */
  readonly signal?: AbortSignal;
}

/** Options of {@link Election.transfer}. */
export interface TransferOptions extends ControlOptions {
  /** The candidate that is to lead next: its node, or its id where only one has that. */
  readonly to: string;
  /** After so many milliseconds it is void. Default 60,000. */
  readonly deadlineMs?: number;
}

/** Options of {@link Election.evict}. */
export interface EvictOptions extends ControlOptions {
  /** The candidate: its node, or its id where only one has that. */
  readonly node: string;
}

/** Options of {@link Election.raiseFloor}. */
export interface RaiseFloorOptions extends ControlOptions {
  /** The highest token that any resource has accepted: every token from now on is above it. At most 2^62. */
  readonly to: bigint;
}
