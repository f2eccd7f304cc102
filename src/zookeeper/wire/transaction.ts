import type { TransactionPart } from '../../election/port.js';
import { CoordinatorError } from '../../errors.js';
import type { Acl } from '../acl.js';
import { checkVersion } from '../limits.js';
import { checkPath } from '../path.js';
import { CODE, errorFromCode } from './codes.js';
import { MalformedError } from './jute.js';
import * as operations from './operations.js';
import { readMulti } from './replies.js';
import { check, multi } from './requests.js';

type Part = Pick<operations.Operation<unknown>, 'name' | 'path' | 'request'>;

function partOf(part: TransactionPart, acl: readonly Acl[] | undefined): Part {
  const { path } = part;
  switch (part.do) {
    case 'create':
      return operations.create(path, part.data, part.mode, acl);
    case 'write':
      return operations.write(path, part.data, part.version);
    case 'remove':
      return operations.remove(path, part.version ?? -1);
    case 'check':
      checkPath('check', path);
      checkVersion('check', path, part.version ?? -1);
      return { name: 'check', path, request: check(path, part.version ?? -1) };
  }
}

/**
 * All of the parts as one operation, whose value is null when they were applied, or why none was: the refusal of the part
 * that was refused, with its own name and path.
 *
 * @throws {CoordinatorError} of kind `invalid_argument`
 */
export function transaction(
  parts: readonly TransactionPart[],
  acl: readonly Acl[] | undefined,
): operations.Operation<CoordinatorError | null> {
  if (parts.length === 0) {
    throw new CoordinatorError('invalid_argument', 'transaction', '', 'it has no parts');
  }
  const all = parts.map((part) => partOf(part, acl));
  return {
    name: 'transaction',
    path: all[0]?.path ?? '',
    request: multi(all.map(({ request }) => request)),
    read: (reader) => {
      const results = readMulti(reader);
      if (results.length !== all.length) {
        throw new MalformedError(`${results.length} results of a transaction of ${all.length} parts`);
      }
      const at = results.findIndex(({ code }) => code !== CODE.ok && code !== CODE.notTried);
      const refused = all[at];
      const code = results[at]?.code ?? CODE.ok;
      if (refused === undefined) {
        if (results.some((result) => result.code !== CODE.ok)) throw new MalformedError('a transaction half done');
        return null;
      }
      return errorFromCode(code, refused.name, refused.path);
    },
    nullable: false,
    leaves: () => null,
  };
}
