import { CoordinatorError, type CoordinatorErrorKind } from '../../errors.js';

/** The return codes with a meaning of their own to the adapter. */
export const OK = 0;
export const CONNECTION_LOSS = -4;
export const NO_NODE = -101;
export const NO_AUTH = -102;
export const INVALID_STATE = -9;
export const CLOSING = -116;
export const SESSION_EXPIRED = -112;
export const AUTH_FAILED = -113;

/** The C client's `state` before and between attempts to connect. */
export const NOT_CONNECTED = 0;
export const CONNECTED = 3;

const KINDS: ReadonlyMap<number, CoordinatorErrorKind> = new Map([
  [CONNECTION_LOSS, 'connection_lost'],
  [-7, 'operation_timeout'],
  [-8, 'invalid_argument'],
  [NO_NODE, 'no_node'],
  [NO_AUTH, 'no_auth'],
  [-103, 'bad_version'],
  [-108, 'no_children_for_ephemerals'],
  [-110, 'node_exists'],
  [-111, 'not_empty'],
  [SESSION_EXPIRED, 'session_expired'],
  // An ACL that means nobody, such as `auth` without credentials.
  [-114, 'invalid_argument'],
  [-115, 'auth_failed'],
  [-125, 'quota_exceeded'],
  // The session has moved to another server: this one has dropped the request.
  [-118, 'connection_lost'],
]);

/** The error for a return code. The code itself is in the message where no kind says it. */
export function errorFromCode(code: number, operation: string, path: string): CoordinatorError {
  const kind = KINDS.get(code);
  return kind === undefined
    ? new CoordinatorError('unknown', operation, path, `ZooKeeper's code ${code}`)
    : new CoordinatorError(kind, operation, path);
}
