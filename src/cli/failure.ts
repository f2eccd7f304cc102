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
  if (error instanceof CommandFailure) return failure(error.exitCode, error.code);
  if (error instanceof TenureError) return failure(exitCodeOf(error), error.code, error.retriable);
  if (error instanceof DOMException && error.name === 'TimeoutError') return failure(EXIT.timeout, 'TIMEOUT', true);
  const { code } = (error ?? {}) as { code?: unknown };
  return failure(EXIT.failure, typeof code === 'string' ? code : 'INTERNAL');
}

function exitCodeOf(error: TenureError): number {
  if (error instanceof InvalidOptionError || error instanceof InvalidElectionNameError) return EXIT.usage;
  if (error instanceof ConnectTimeoutError || error instanceof NameResolutionError) return EXIT.unreachable;
  if (error instanceof AuthenticationError) return EXIT.denied;
  if (!(error instanceof CoordinatorError)) return EXIT.failure;
  if (error.kind === 'no_auth' || error.kind === 'auth_failed') return EXIT.denied;
  return error.retriable ? EXIT.unreachable : EXIT.failure;
}
