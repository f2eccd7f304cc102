import { constants } from 'node:os';

/** What the command ends with, everywhere the same, so that scripts can tell one failure from another. */
export const EXIT = {
  ok: 0,
  /** What was asked for could not be done, for a reason that has no code of its own. */
  failure: 1,
  /** The command line is wrong: nothing was tried. */
  usage: 2,
  /** Nobody leads. */
  noLeader: 3,
  /** It took longer than it was allowed to. */
  timeout: 4,
  /** No session with the ensemble: it can't be reached, or has no quorum. */
  unreachable: 5,
  /** Credentials or an ACL forbid it. */
  denied: 6,
} as const;

export const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  [EXIT.ok]: 'done',
  [EXIT.failure]: 'failed; the message says why',
  [EXIT.usage]: 'the command line is wrong; nothing was tried',
  [EXIT.noLeader]: 'nobody leads',
  [EXIT.timeout]: 'it took longer than it was allowed to',
  [EXIT.unreachable]: "no session with the ensemble: it can't be reached, or has no quorum",
  [EXIT.denied]: 'credentials or an ACL forbid it',
};

/** As shells tell of a process that a signal ended. */
export function signalExit(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
