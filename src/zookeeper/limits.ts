import { CoordinatorError } from '../errors.js';

/** A server drops the connection, unanswered, of a request above its `jute.maxbuffer`: this many bytes by default. */
export const MAX_REQUEST_BYTES = 0xfffff;

/** Header, lengths, flags and the open ACL of a create, the largest of our requests, and room for what followers add. */
const OVERHEAD_BYTES = 1024;

const MAX_VERSION = 2 ** 31 - 1;

/** @throws CoordinatorError of kind `too_large` or `invalid_argument`; null or undefined would be stored as their names */
export function checkData(operation: string, path: string, data: Uint8Array, maxBytes = MAX_REQUEST_BYTES): void {
  if (!(data instanceof Uint8Array)) {
    throw new CoordinatorError('invalid_argument', operation, path, 'data must be a Uint8Array');
  }
  const limit = maxBytes - OVERHEAD_BYTES - Buffer.byteLength(path);
  if (data.byteLength > limit) {
    throw new CoordinatorError('too_large', operation, path, `${data.byteLength} bytes, at most ${limit} fit`);
  }
}

/** @throws CoordinatorError of kind `invalid_argument`; a client would wrap or truncate the number */
export function checkVersion(operation: string, path: string, version: number): void {
  if (!Number.isInteger(version) || version < -1 || version > MAX_VERSION) {
    throw new CoordinatorError('invalid_argument', operation, path, `${version} is not a version`);
  }
}
