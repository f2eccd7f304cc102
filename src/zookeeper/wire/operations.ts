import type { Children, NodeData, Stat } from '../../election/port.js';
import type { Acl } from '../acl.js';
import { checkVersion } from '../limits.js';
import { checkPath } from '../path.js';
import type { JuteReader } from './jute.js';
import { readAcl, readChildren, readCreated, readIdentities, readNodeData, readStat } from './replies.js';
import * as requests from './requests.js';
import type { WatchKind } from './watch-list.js';

/** One operation of a session: its request, what its reply holds, and what it leaves behind. */
export interface Operation<T> {
  /** As in errors: `create`, `write`, … */
  readonly name: string;
  readonly path: string;
  readonly request: requests.Request;
  /** Of a success. @throws {MalformedError} */
  readonly read: (reader: JuteReader) => T;
  /** Whether no node is an answer, null, and no error. */
  readonly nullable: boolean;
  /** The watch that the server keeps for us once it has answered. */
  readonly leaves: (found: boolean) => WatchKind | null;
}

const NO_WATCH = (): null => null;
const NOTHING = (): void => {};

function plain<T>(
  name: string,
  path: string,
  request: requests.Request,
  read: (reader: JuteReader) => T,
): Operation<T> {
  return { name, path, request, read, nullable: false, leaves: NO_WATCH };
}

/** Each of these checks its arguments. @throws {CoordinatorError} of kind `invalid_argument` */
export function create(
  path: string,
  data: Uint8Array,
  mode: requests.NodeMode,
  acl: readonly Acl[] | undefined,
): Operation<{ readonly path: string; readonly stat: Stat }> {
  checkPath('create', path, typeof mode === 'object' ? mode.sequential : mode.endsWith('sequential'));
  return plain('create', path, requests.create(path, data, mode, acl), readCreated);
}

export function remove(path: string, version: number): Operation<void> {
  checkPath('remove', path);
  checkVersion('remove', path, version);
  return plain('remove', path, requests.remove(path, version), NOTHING);
}

export function write(path: string, data: Uint8Array, version: number): Operation<Stat> {
  checkPath('write', path);
  checkVersion('write', path, version);
  return plain('write', path, requests.setData(path, data, version), readStat);
}

export function read(path: string, watch: boolean): Operation<NodeData | null> {
  checkPath('read', path);
  return {
    ...plain('read', path, requests.getData(path, watch), readNodeData),
    nullable: true,
    leaves: (found) => (watch && found ? 'data' : null),
  };
}

export function acl(path: string): Operation<Acl[] | null> {
  checkPath('acl', path);
  return { ...plain('acl', path, requests.getAcl(path), readAcl), nullable: true, leaves: NO_WATCH };
}

export function setAcl(path: string, entries: readonly Acl[]): Operation<Stat> {
  checkPath('setAcl', path);
  return plain('setAcl', path, requests.setAcl(path, entries), readStat);
}

export function stat(path: string, watch: boolean): Operation<Stat | null> {
  checkPath('stat', path);
  return {
    ...plain('stat', path, requests.exists(path, watch), readStat),
    nullable: true,
    leaves: (found) => (watch ? (found ? 'data' : 'exist') : null),
  };
}

export function children(path: string, watch: boolean): Operation<Children | null> {
  checkPath('children', path);
  return {
    ...plain('children', path, requests.getChildren(path, watch), readChildren),
    nullable: true,
    leaves: (found) => (watch && found ? 'children' : null),
  };
}

export function sync(path: string): Operation<void> {
  checkPath('sync', path);
  return plain('sync', path, requests.sync(path), NOTHING);
}

export function addWatch(path: string, recursive: boolean): Operation<void> {
  checkPath('watch', path);
  return {
    ...plain('watch', path, requests.addWatch(path, recursive), NOTHING),
    leaves: () => (recursive ? 'recursive' : 'persistent'),
  };
}

export function removeWatches(path: string, type: keyof typeof requests.WATCHER_TYPE): Operation<void> {
  checkPath('unwatch', path);
  return plain('unwatch', path, requests.removeWatches(path, type), NOTHING);
}

export const whoAmI: Operation<{ readonly scheme: string; readonly id: string }[]> = plain(
  'whoAmI',
  '',
  requests.whoAmI,
  readIdentities,
);

export const closeSession: Operation<void> = plain('close', '', requests.closeSession, NOTHING);
