import {
  AuthenticationError,
  ConnectTimeoutError,
  CoordinatorError,
  InvalidElectionNameError,
  InvalidOptionError,
  NameResolutionError,
  TenureError,
} from '../errors.js';
import { EXIT } from './exit-codes.js';
import { visible } from './text.js';
import { CommandFailure, UsageError } from './usage-error.js';

/** An error as the command tells it. */
export interface Failure {
  readonly exitCode: number;
  readonly code: string;
  /** One line, with the fix. */
  readonly message: string;
  readonly hint: string | undefined;
  readonly retriable: boolean;
}

export function failureOf(error: unknown): Failure {
  const message = visible(error instanceof Error ? error.message : String(error));
  const failure = (exitCode: number, code: string, retriable = false, hint?: string): Failure => {
    return { exitCode, code, message, hint, retriable };
  };
  if (error instanceof UsageError) return failure(EXIT.usage, 'USAGE', false, error.hint);
  if (error instanceof CommandFailure) return failure(error.exitCode, error.code, false, SYSTEM_HINTS[error.code]);
  if (error instanceof TenureError) return failure(exitCodeOf(error), error.code, error.retriable);
  if (error instanceof DOMException && error.name === 'TimeoutError') return failure(EXIT.timeout, 'TIMEOUT', true);
  const { code } = (error ?? {}) as { code?: unknown };
  return failure(EXIT.failure, typeof code === 'string' ? code : 'INTERNAL', false, SYSTEM_HINTS[String(code)]);
}

/** What to do about errors of the operating system, which tell no fix themselves. */
const SYSTEM_HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there, perhaps a second one of this command: end it, or give another address',
  EADDRNOTAVAIL: 'this machine has no such address: give one of its own, or 0.0.0.0 for all',
};

function exitCodeOf(error: TenureError): number {
  if (error instanceof InvalidOptionError || error instanceof InvalidElectionNameError) return EXIT.usage;
  if (error instanceof ConnectTimeoutError || error instanceof NameResolutionError) return EXIT.unreachable;
  if (error instanceof AuthenticationError) return EXIT.denied;
  if (!(error instanceof CoordinatorError)) return EXIT.failure;
  if (error.kind === 'no_auth' || error.kind === 'auth_failed') return EXIT.denied;
  return error.retriable ? EXIT.unreachable : EXIT.failure;
}
