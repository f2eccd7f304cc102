import type { FencedTerm } from '../../src/fencing/index.js';

export interface FakeTermOptions {
  leaderId?: string;
  /** What remains of the lease when it is made, in milliseconds. Default 5,000. */
  forMs?: number;
  signal?: AbortSignal;
  /** Default: passes always, also after the lease: as in a leader that is paused right after it asked. */
  assert?: () => void;
}

/** A term that nobody has won. Its `assert()` trusts itself for ever: what is refused, the resource has refused. */
export function fakeTerm(token: bigint, options: FakeTermOptions = {}): FencedTerm {
  const end = performance.now() + (options.forMs ?? 5_000);
  return {
    token,
    leaderId: options.leaderId,
    signal: options.signal ?? new AbortController().signal,
    remainingMs: () => end - performance.now(),
    assert: options.assert ?? (() => undefined),
  };
}
