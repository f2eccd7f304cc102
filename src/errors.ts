/**
 * The errors that Tenure itself throws or rejects with; an aborted signal rejects with its own reason, and what a worker or a
 * client library throws passes through. Each class has a stable `code` to switch on
 * and says whether the same call may succeed later without a change by the caller (`retriable`).
 * docs/errors.md lists them with their cures.
 */

/** The base of all of Tenure's errors. */
export abstract class TenureError extends Error {
  /** Stable, upper snake case: safe to switch on and to put in a metric label. */
  abstract readonly code: string;
  /** Whether repeating the call, unchanged, may succeed later. */
  abstract readonly retriable: boolean;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An option has a value that can't work; the message names the option, the value and the fix. */
export class InvalidOptionError extends TenureError {
  readonly code = 'INVALID_OPTION';
  readonly retriable = false;
  /** The option's name, as the caller wrote it. */
  readonly option: string;

  constructor(option: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.option = option;
  }
}

/** An election's name breaks a rule; the message names the rule. */
export class InvalidElectionNameError extends TenureError {
  readonly code = 'INVALID_ELECTION_NAME';
  readonly retriable = false;
}

/** A value that should be a fencing token isn't one. */
export class InvalidTokenError extends TenureError {
  readonly code = 'INVALID_TOKEN';
  readonly retriable = false;

  constructor(value: unknown) {
    const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value);
    super(`${shown} is not a fencing token: a whole number from 1 to 2^63 - 1, as decimal text or bigint`);
  }
}

/** The id or metadata of a candidate does not fit into its znode. */
export class CandidateTooLargeError extends TenureError {
  readonly code = 'CANDIDATE_TOO_LARGE';
  readonly retriable = false;
}

/** No session could be had before the connect deadline. */
export class ConnectTimeoutError extends TenureError {
  readonly code = 'CONNECT_TIMEOUT';
  readonly retriable = true;
}

/** None of the host names in the connect string could be resolved. */
export class NameResolutionError extends TenureError {
  readonly code = 'NAME_RESOLUTION_FAILED';
  readonly retriable = true;
}

/** The ensemble refused our credentials. */
export class AuthenticationError extends TenureError {
  readonly code = 'AUTHENTICATION_FAILED';
  readonly retriable = false;
}

/**
 * No server could be trusted, or none trusted us: each refused our certificate, or showed one that its name, its date or the
 * authorities that we trust don't bear out.
 */
export class UntrustedError extends TenureError {
  readonly code = 'UNTRUSTED';
  readonly retriable = false;
}

/** The driver can't be loaded or can't run here; the message says what to install or to choose. */
export class DriverUnavailableError extends TenureError {
  readonly code = 'DRIVER_UNAVAILABLE';
  readonly retriable = false;
}

/** Used after `close()`. */
export class ClosedError extends TenureError {
  readonly code = 'CLOSED';
  readonly retriable = false;
}

/** The outcome of one operation at the coordinator, by kind. */
export type CoordinatorErrorKind =
  | 'no_node'
  | 'node_exists'
  | 'bad_version'
  | 'not_empty'
  | 'no_children_for_ephemerals'
  | 'connection_lost'
  | 'operation_timeout'
  | 'session_expired'
  | 'session_closed'
  | 'no_auth'
  | 'auth_failed'
  | 'invalid_argument'
  | 'too_large'
  | 'quota_exceeded'
  | 'inexact_integer'
  | 'unknown';

/** An operation at the coordinator failed. */
export class CoordinatorError extends TenureError {
  readonly code = 'COORDINATOR';
  readonly retriable: boolean;
  /** What went wrong, in a word. */
  readonly kind: CoordinatorErrorKind;
  /** Which operation: `create`, `write`, … */
  readonly operation: string;
  /** The znode's path, or the empty string where there is none. */
  readonly path: string;
  /** Whether the operation may have taken effect all the same: the reply was lost, not the request refused. */
  readonly maybeApplied: boolean;

  /** `unsent`: the request never left this process, so it can't have taken effect whatever the kind. */
  constructor(
    kind: CoordinatorErrorKind,
    operation: string,
    path: string,
    detail?: string,
    { unsent = false }: { readonly unsent?: boolean } = {},
  ) {
    super(`${operation} ${path}: ${kind.replaceAll('_', ' ')}${detail === undefined ? '' : ` (${detail})`}`);
    this.kind = kind;
    this.operation = operation;
    this.path = path;
    this.maybeApplied = MAYBE_APPLIED.has(kind) && !unsent;
    this.retriable = MAYBE_APPLIED.has(kind) && kind !== 'inexact_integer';
  }
}

const MAYBE_APPLIED: ReadonlySet<CoordinatorErrorKind> = new Set([
  'connection_lost',
  'operation_timeout',
  'session_expired',
  'session_closed',
  // The reply could not be taken; what it replied to stands.
  'inexact_integer',
  'unknown',
]);

/** The queue's sequence counter is about to run out; the message says how to rotate the queue. */
export class SequenceExhaustedError extends TenureError {
  readonly code = 'SEQUENCE_EXHAUSTED';
  readonly retriable = false;
}

/** The term record can't be read as one: written by something else, or by a newer version. */
export class TermRecordError extends TenureError {
  readonly code = 'TERM_RECORD_UNREADABLE';
  readonly retriable = false;
}

/**
 * Tokens have gone backwards: the ensemble was restored or rebuilt. Either we are first in the queue and alive, yet our
 * token would not exceed the record's: no term is opened. Or a resource refused the token of a term whose lease is good;
 * then `cause` is its {@link StaleTokenError}. Joining again can't help: the floor must be raised.
 */
export class TokenRegressedError extends TenureError {
  readonly code = 'TOKEN_REGRESSED';
  readonly retriable = false;
}

/** Why a term is over. */
export type LossReason =
  | 'lease_expired'
  | 'session_expired'
  | 'session_node_gone'
  | 'node_gone'
  | 'superseded'
  | 'resigned'
  | 'paused'
  | 'transferred'
  | 'held'
  | 'closed';

/** The reason of a term's aborted `signal`. `reason` says why in a word, `cause` in full where there is more to say. */
export class LeadershipLostError extends TenureError {
  readonly code = 'LEADERSHIP_LOST';
  readonly retriable = true;
  /** Why, in a word. */
  readonly reason: LossReason;

  constructor(reason: LossReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** `term.assert()` while the lease can't be vouched for (suspect): wait with `term.whenLeading()`, or give up. */
export class NotLeadingError extends TenureError {
  readonly code = 'NOT_LEADING';
  readonly retriable = true;
}

/** There is no election by that name: nobody has ever stood in it, or it was removed. */
export class UnknownElectionError extends TenureError {
  readonly code = 'UNKNOWN_ELECTION';
  readonly retriable = false;
}

/** No candidate in the queue has that node or id. */
export class UnknownCandidateError extends TenureError {
  readonly code = 'UNKNOWN_CANDIDATE';
  readonly retriable = false;
}

/** Several candidates in the queue have that id; the message lists their nodes. */
export class AmbiguousCandidateError extends TenureError {
  readonly code = 'AMBIGUOUS_CANDIDATE';
  readonly retriable = false;
}

/** The election is paused already; the message says by whom and why. */
export class AlreadyPausedError extends TenureError {
  readonly code = 'ALREADY_PAUSED';
  readonly retriable = false;
}

/** There is no pause to end. */
export class NotPausedError extends TenureError {
  readonly code = 'NOT_PAUSED';
  readonly retriable = false;
}

/** The leadership can't be transferred to that candidate now; the message says why not. */
export class TransferRefusedError extends TenureError {
  readonly code = 'TRANSFER_REFUSED';
  readonly retriable = false;
}

/** An election that candidates stand in can't be removed. */
export class ElectionInUseError extends TenureError {
  readonly code = 'ELECTION_IN_USE';
  readonly retriable = false;
}

/** The floor can only be raised; the message says where it is. */
export class FloorTooLowError extends TenureError {
  readonly code = 'FLOOR_TOO_LOW';
  readonly retriable = false;
}

/** The queue belongs to other libraries, whose candidates a floor or a transfer doesn't bind. */
export class ForeignQueueError extends TenureError {
  readonly code = 'FOREIGN_QUEUE';
  readonly retriable = false;
}

/** A guarded resource has accepted a higher token: the caller's term is over, whatever it believes. */
export class StaleTokenError extends TenureError {
  readonly code = 'STALE_TOKEN';
  readonly retriable = false;
  /** The resource that refused the token. */
  readonly resource: string;
  /** Who presented the highest token, where the resource knows. */
  readonly holder: string | undefined;
  // Not enumerable, for loggers copy an error's own properties into JSON, which has no exact form for them.
  readonly #token: bigint;
  readonly #highest: bigint;

  constructor(resource: string, token: bigint, highest: bigint, holder?: string) {
    super(
      `${JSON.stringify(resource)} refused token ${token}: it has accepted ${highest}${holder === undefined ? '' : ` from ${JSON.stringify(holder)}`}`,
    );
    this.resource = resource;
    this.#token = token;
    this.#highest = highest;
    this.holder = holder;
  }

  /** The token that was refused. */
  get token(): bigint {
    return this.#token;
  }

  /** The highest token that the resource has accepted. */
  get highest(): bigint {
    return this.#highest;
  }
}
