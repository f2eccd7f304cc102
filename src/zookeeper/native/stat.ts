import type { Stat } from '../../election/port.js';
import { CoordinatorError } from '../../errors.js';
import type { RawStat } from './addon.js';

/** @throws CoordinatorError of kind `inexact_integer` when the addon has rounded a transaction id: fencing leans on each bit */
export function statFrom(raw: RawStat, operation: string, path: string): Stat {
  const exact = (name: string, value: number): bigint => {
    if (Number.isSafeInteger(value)) return BigInt(value);
    throw new CoordinatorError(
      'inexact_integer',
      operation,
      path,
      `${name} is beyond 2^53 and the native driver would round it; it is refused, never rounded`,
    );
  };
  return {
    czxid: exact('czxid', raw.czxid),
    mzxid: exact('mzxid', raw.mzxid),
    ctime: raw.ctime.getTime(),
    mtime: raw.mtime.getTime(),
    version: raw.version,
    cversion: raw.cversion,
    owner: raw.ephemeralOwner === '0' ? null : sessionId(raw.ephemeralOwner),
    children: raw.numChildren,
  };
}

/** The addon's unpadded hex as 16 digits. */
export function sessionId(hex: string): string {
  return hex.toLowerCase().padStart(16, '0');
}
