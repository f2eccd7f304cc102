import { CoordinatorError, type CoordinatorErrorKind } from '../../errors.js';

/** The operations' numbers. */
export const OP = {
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  removeWatches: 18,
  createContainer: 19,
  createTtl: 21,
  auth: 100,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  closeSession: -11,
  error: -1,
} as const;

/** The numbers of requests that aren't in the sequence. */
export const XID = { event: -1, ping: -2, auth: -4, setWatches: -8 } as const;

/** The server's return codes with a meaning of their own to the driver. */
export const CODE = {
  ok: 0,
  /** In a transaction: not tried, as another part was refused. */
  notTried: -2,
  noNode: -101,
  sessionExpired: -112,
  authFailed: -115,
  sessionMoved: -118,
} as const;

const KINDS: ReadonlyMap<number, CoordinatorErrorKind> = new Map([
  [-4, 'connection_lost'],
  [-7, 'operation_timeout'],
  [-8, 'invalid_argument'],
  [CODE.noNode, 'no_node'],
  [-102, 'no_auth'],
  [-103, 'bad_version'],
  [-108, 'no_children_for_ephemerals'],
  [-110, 'node_exists'],
  [-111, 'not_empty'],
  [CODE.sessionExpired, 'session_expired'],
  [-114, 'invalid_argument'],
  [CODE.authFailed, 'auth_failed'],
  [-125, 'quota_exceeded'],
  // The session has moved to another server: this one has dropped the request.
  [CODE.sessionMoved, 'connection_lost'],
]);

/** The error for the code of a server's reply. */
export function errorFromCode(code: number, operation: string, path: string): CoordinatorError {
  return new CoordinatorError(KINDS.get(code) ?? 'unknown', operation, path, `ZooKeeper's code ${code}`);
}
