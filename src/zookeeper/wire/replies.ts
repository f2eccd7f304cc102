import type { Children, NodeChange, NodeData, Stat } from '../../election/port.js';
import type { Acl } from '../acl.js';
import { CODE, OP } from './codes.js';
import { sessionIdText } from './handshake.js';
import { type JuteReader, MalformedError } from './jute.js';

/** What comes before the body of every frame from a server, but for the first. */
export interface ReplyHeader {
  /** The request's number, or one of `XID`. */
  readonly xid: number;
  /** The newest transaction that the server knew; not positive where it doesn't say. */
  readonly zxid: bigint;
  /** 0, or the server's refusal. */
  readonly code: number;
}

/** Each of these reads one record. @throws {MalformedError} */
export function readHeader(reader: JuteReader): ReplyHeader {
  return { xid: reader.int(), zxid: reader.long(), code: reader.int() };
}

export function readStat(reader: JuteReader): Stat {
  const czxid = reader.long();
  const mzxid = reader.long();
  const ctime = Number(reader.long());
  const mtime = Number(reader.long());
  const version = reader.int();
  const cversion = reader.int();
  reader.int(); // aversion
  const owner = reader.long();
  reader.int(); // dataLength
  const children = reader.int();
  reader.long(); // pzxid
  return {
    czxid,
    mzxid,
    ctime,
    mtime,
    version,
    cversion,
    owner: isSession(owner) ? sessionIdText(owner) : null,
    children,
  };
}

/** Containers and nodes with a time to live have a mark in the place of an owner: the lowest number, or the highest byte set. */
function isSession(owner: bigint): boolean {
  return owner !== 0n && owner !== CONTAINER && BigInt.asUintN(64, owner) >> 56n !== TTL_BYTE;
}

const CONTAINER = -(2n ** 63n);
const TTL_BYTE = 0xffn;

export function readCreated(reader: JuteReader): { readonly path: string; readonly stat: Stat } {
  return { path: reader.text(), stat: readStat(reader) };
}

export function readNodeData(reader: JuteReader): NodeData {
  return { data: reader.bytes(), stat: readStat(reader) };
}

export function readChildren(reader: JuteReader): Children {
  return { names: reader.list(4, () => reader.text()), stat: readStat(reader) };
}

/** An entry takes at least 12 bytes: its permissions and two texts. */
export function readAcl(reader: JuteReader): Acl[] {
  return reader.list(12, () => ({ permissions: reader.int(), scheme: reader.text(), id: reader.text() }));
}

export interface WatchEvent {
  /** Null for one that speaks of the session, or of a watch that was removed. */
  readonly change: NodeChange | null;
  readonly path: string;
}

const CHANGES: ReadonlyMap<number, NodeChange> = new Map([
  [1, 'created'],
  [2, 'deleted'],
  [3, 'changed'],
  [4, 'children'],
]);

export function readWatchEvent(reader: JuteReader): WatchEvent {
  const type = reader.int();
  reader.int(); // the session's state, which is nothing to a client that is connected
  return { change: CHANGES.get(type) ?? null, path: reader.text() };
}

/** Who the server takes us for. */
export function readIdentities(reader: JuteReader): { readonly scheme: string; readonly id: string }[] {
  return reader.list(8, () => ({ scheme: reader.text(), id: reader.text() }));
}

/** What became of one part of a transaction. */
export interface PartResult {
  /** 0, the refusal of this part, or `CODE.notTried`. */
  readonly code: number;
  /** The path of a node that was created, else null. */
  readonly path: string | null;
  readonly stat: Stat | null;
}

/** The results in the order of the parts. */
export function readMulti(reader: JuteReader): PartResult[] {
  const results: PartResult[] = [];
  for (;;) {
    const op = reader.int();
    const done = reader.bool();
    reader.int(); // the error, which an error's body repeats
    if (done) return results;
    results.push(readPart(op, reader));
  }
}

function readPart(op: number, reader: JuteReader): PartResult {
  switch (op) {
    case OP.error:
      return { code: reader.int(), path: null, stat: null };
    case OP.create2: {
      const { path, stat } = readCreated(reader);
      return { code: CODE.ok, path, stat };
    }
    case OP.setData:
      return { code: CODE.ok, path: null, stat: readStat(reader) };
    case OP.delete:
    case OP.check:
      return { code: CODE.ok, path: null, stat: null };
    default:
      throw new MalformedError(`a transaction's part of the unknown kind ${op}`);
  }
}
