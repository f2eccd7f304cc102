import { type Acl, OPEN_ACL } from '../acl.js';
import { OP, XID } from './codes.js';
import { frame, LENGTH_BYTES } from './frames.js';
import { JuteWriter } from './jute.js';

/** A request without its number, which it gets when it is sent. */
export interface Request {
  readonly op: number;
  readonly write: (writer: JuteWriter) => void;
}

/** How a node is made. `ttlMs`: gone once it has had no children and no change for so long. */
export type NodeMode =
  | 'persistent'
  | 'ephemeral'
  | 'persistent_sequential'
  | 'ephemeral_sequential'
  | 'container'
  | { readonly ttlMs: number; readonly sequential: boolean };

const FLAGS = {
  persistent: 0,
  ephemeral: 1,
  persistent_sequential: 2,
  ephemeral_sequential: 3,
  container: 4,
} as const;

const TTL_FLAG = 5;
const TTL_SEQUENTIAL_FLAG = 6;

export function requestFrame(xid: number, { op, write }: Request): Buffer {
  const writer = new JuteWriter(LENGTH_BYTES);
  writer.int(xid).int(op);
  write(writer);
  return frame(writer);
}

const NO_BODY = (): void => {};

export const pingFrame = (): Buffer => requestFrame(XID.ping, { op: OP.ping, write: NO_BODY });

export const closeSession: Request = { op: OP.closeSession, write: NO_BODY };

export function create(path: string, data: Uint8Array, mode: NodeMode, acl: readonly Acl[] = OPEN_ACL): Request {
  const ttl = typeof mode === 'object' ? mode : null;
  const flags = typeof mode === 'object' ? (mode.sequential ? TTL_SEQUENTIAL_FLAG : TTL_FLAG) : FLAGS[mode];
  return {
    op: ttl !== null ? OP.createTtl : mode === 'container' ? OP.createContainer : OP.create2,
    write: (writer) => {
      writer.text(path).bytes(data);
      writeAcl(writer, acl);
      writer.int(flags);
      if (ttl !== null) writer.long(BigInt(ttl.ttlMs));
    },
  };
}

function writeAcl(writer: JuteWriter, acl: readonly Acl[]): void {
  writer.list(acl, ({ permissions, scheme, id }) => writer.int(permissions).text(scheme).text(id));
}

/** `version` -1 matches any. */
export function remove(path: string, version: number): Request {
  return { op: OP.delete, write: (writer) => writer.text(path).int(version) };
}

/** `version` -1 matches any. */
export function setData(path: string, data: Uint8Array, version: number): Request {
  return { op: OP.setData, write: (writer) => writer.text(path).bytes(data).int(version) };
}

export function getAcl(path: string): Request {
  return { op: OP.getAcl, write: (writer) => writer.text(path) };
}

/** Whatever ACL it has now. */
export function setAcl(path: string, acl: readonly Acl[]): Request {
  return {
    op: OP.setAcl,
    write: (writer) => {
      writer.text(path);
      writeAcl(writer, acl);
      writer.int(-1);
    },
  };
}

export function getData(path: string, watch: boolean): Request {
  return { op: OP.getData, write: (writer) => writer.text(path).bool(watch) };
}

export function exists(path: string, watch: boolean): Request {
  return { op: OP.exists, write: (writer) => writer.text(path).bool(watch) };
}

export function getChildren(path: string, watch: boolean): Request {
  return { op: OP.getChildren2, write: (writer) => writer.text(path).bool(watch) };
}

export function sync(path: string): Request {
  return { op: OP.sync, write: (writer) => writer.text(path) };
}

/** Part of a transaction only. `version` -1 asks that the node exists. */
export function check(path: string, version: number): Request {
  return { op: OP.check, write: (writer) => writer.text(path).int(version) };
}

/** All of the parts, or none. */
export function multi(parts: readonly Request[]): Request {
  return {
    op: OP.multi,
    write: (writer) => {
      for (const part of parts) {
        writer.int(part.op).bool(false).int(-1);
        part.write(writer);
      }
      writer.int(-1).bool(true).int(-1);
    },
  };
}

/** Answered under {@link XID.auth}. */
export function authFrame(scheme: string, credential: string): Buffer {
  const write = (writer: JuteWriter) => writer.int(0).text(scheme).bytes(Buffer.from(credential));
  return requestFrame(XID.auth, { op: OP.auth, write });
}

/** The watches that a client has left, by kind: to be left again on a new connection. */
export interface WatchLists {
  readonly data: readonly string[];
  readonly exist: readonly string[];
  readonly children: readonly string[];
  readonly persistent: readonly string[];
  readonly recursive: readonly string[];
}

/** What has changed after `since` is announced at once. Answered under {@link XID.setWatches}. */
export function setWatchesFrame(since: bigint, lists: WatchLists): Buffer {
  const write = (writer: JuteWriter) => {
    writer.long(since);
    for (const paths of [lists.data, lists.exist, lists.children, lists.persistent, lists.recursive]) {
      writer.list(paths, (path) => writer.text(path));
    }
  };
  return requestFrame(XID.setWatches, { op: OP.setWatches2, write });
}

/** A watch that stays; `recursive` also for everything below. */
export function addWatch(path: string, recursive: boolean): Request {
  return { op: OP.addWatch, write: (writer) => writer.text(path).int(recursive ? 1 : 0) };
}

export const WATCHER_TYPE = { children: 1, data: 2, any: 3 } as const;

export function removeWatches(path: string, type: keyof typeof WATCHER_TYPE): Request {
  return { op: OP.removeWatches, write: (writer) => writer.text(path).int(WATCHER_TYPE[type]) };
}

/** Since 3.7. */
export const whoAmI: Request = { op: OP.whoAmI, write: NO_BODY };
