import { TenureError } from '../errors.js';

/** A resource's name breaks a rule; the message names the rule. */
export class InvalidResourceError extends TenureError {
  readonly code = 'INVALID_RESOURCE';
  readonly retriable = false;
}

/** A write to a guarded resource came without a token: nobody can say which term it belongs to. */
export class MissingTokenError extends TenureError {
  readonly code = 'MISSING_TOKEN';
  readonly retriable = false;
  /** To which it was to go; undefined where that was not said either. */
  readonly resource: string | undefined;

  constructor(resource: string | undefined, message: string) {
    super(message);
    this.resource = resource;
  }
}

/** An older term still holds the fence, and did not let go in the time that we had. Nothing was written. */
export class FenceBusyError extends TenureError {
  readonly code = 'FENCE_BUSY';
  readonly retriable = true;
  /** Whose fence is held. */
  readonly resource: string;

  constructor(resource: string, options?: ErrorOptions) {
    super(
      `${JSON.stringify(resource)} is still held by an older term, or by a transaction that is slow to end`,
      options,
    );
    this.resource = resource;
  }
}

/** The time for holding the fence ran out and the store ended the hold. Nothing of it was committed. */
export class FenceTimeoutError extends TenureError {
  readonly code = 'FENCE_TIMEOUT';
  readonly retriable = true;
  /** Whose fence was held. */
  readonly resource: string;

  constructor(resource: string, options?: ErrorOptions) {
    super(
      `the hold on ${JSON.stringify(resource)} outlived what was left of the lease when it began: nothing was committed. Shorten it, or call extend() in it`,
      options,
    );
    this.resource = resource;
  }
}

/**
 * The connection broke while the commit was under way, or no answer came while the term lasted: it may have taken effect or not, or yet take it. Repeating
 * the work is safe only where it is idempotent: give it a key and use `runOnce`.
 */
export class CommitUnknownError extends TenureError {
  readonly code = 'COMMIT_UNKNOWN';
  readonly retriable = false;
  /** To which the commit was to go. */
  readonly resource: string;

  constructor(resource: string, options?: ErrorOptions) {
    super(`no answer came to the commit on ${JSON.stringify(resource)}: whether it took effect is unknown`, options);
    this.resource = resource;
  }
}

/** A handle was used after the hold that it belongs to had ended: most often a forgotten `await`. */
export class FenceReleasedError extends TenureError {
  readonly code = 'FENCE_RELEASED';
  readonly retriable = false;
}

/** The guard's tables or functions are absent at the store; the message says how to install them. */
export class FencingNotInstalledError extends TenureError {
  readonly code = 'FENCING_NOT_INSTALLED';
  readonly retriable = false;
}

/** `work` ended its transaction by itself. What came before a COMMIT of its own is committed; what came after was outside of the fence. */
export class TransactionEndedError extends TenureError {
  readonly code = 'TRANSACTION_ENDED';
  readonly retriable = false;
  /** Whose transaction it was. */
  readonly resource: string;

  constructor(resource: string, options?: ErrorOptions) {
    super(
      `the work on ${JSON.stringify(resource)} ended its transaction by itself, so it may be committed in part: leave BEGIN, COMMIT and ROLLBACK to the guard`,
      options,
    );
    this.resource = resource;
  }
}

/** The transaction did not commit: a statement in it failed and its error was swallowed. */
export class TransactionAbortedError extends TenureError {
  readonly code = 'TRANSACTION_ABORTED';
  readonly retriable = false;
}
