/** How a command stands towards the lease of its term. Milliseconds. */
export interface Situation {
  /** What the lease still has; 0 or less when nothing may run any more. */
  readonly remainingMs: number;
  /** The leadership is lost or has to be given up. */
  readonly stopping: boolean;
  /** For how long the command has known that it must end; null before. */
  readonly toldForMs: number | null;
}

export interface Limits {
  /** What the command gets to end by itself when its lease runs out. */
  readonly graceMs: number;
  /** What it gets at most, however long the lease goes on. */
  readonly drainMs: number;
}

export interface Due {
  readonly do: 'nothing' | 'terminate' | 'kill';
  /** When to look again, if nothing happens before; null where there is nothing to wait for. */
  readonly againInMs: number | null;
}

/** What has to be done to the command now. Once told to end it is not taken back, even when the lease is renewed after all. */
export function due({ remainingMs, stopping, toldForMs }: Situation, { graceMs, drainMs }: Limits): Due {
  if (remainingMs <= 0) return { do: 'kill', againInMs: null };
  if (toldForMs !== null) {
    const left = Math.min(remainingMs, drainMs - toldForMs);
    return left > 0 ? { do: 'nothing', againInMs: left } : { do: 'kill', againInMs: null };
  }
  if (stopping || remainingMs <= graceMs) return { do: 'terminate', againInMs: Math.min(remainingMs, drainMs) };
  return { do: 'nothing', againInMs: remainingMs - graceMs };
}
