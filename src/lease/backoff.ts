/** How retries are spread: attempt n waits anywhere between 0 and min(cap, base × 2^n), "full jitter". */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Milliseconds before the next attempt; `attempt` counts from 0, `random` yields [0, 1). */
export function backoffMs(backoff: Backoff, attempt: number, random: () => number): number {
  return random() * Math.min(backoff.capMs, backoff.baseMs * 2 ** Math.min(attempt, 30));
}
