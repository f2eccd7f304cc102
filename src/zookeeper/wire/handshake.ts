import { frame, LENGTH_BYTES } from './frames.js';
import { JuteReader, JuteWriter } from './jute.js';

/** What makes a session ours. */
export interface Identity {
  readonly id: bigint;
  /** 16 bytes. */
  readonly password: Uint8Array;
}

export const NO_SESSION: Identity = { id: 0n, password: new Uint8Array(16) };

/** The first frame that a client sends: asks for a new session, or to go on with one. */
export interface ConnectRequest {
  /** {@link NO_SESSION} for a new one. */
  readonly identity: Identity;
  /** In milliseconds; the server grants it within its own bounds. */
  readonly timeoutMs: number;
  /** The newest transaction that we know of: a server that hasn't got so far hangs up. */
  readonly lastZxid: bigint;
}

/** The first frame that a server sends. */
export interface ConnectReply {
  /** Granted, in milliseconds; 0 where the session that was asked for is over. */
  readonly timeoutMs: number;
  readonly identity: Identity;
  /** The server is cut off from the quorum and serves reads all the same. Only where that was asked for, which we never do. */
  readonly readOnly: boolean;
}

export function connectFrame({ identity, timeoutMs, lastZxid }: ConnectRequest): Buffer {
  const writer = new JuteWriter(LENGTH_BYTES);
  writer.int(0).long(lastZxid).int(timeoutMs).long(identity.id).bytes(identity.password).bool(false);
  return frame(writer);
}

/** @throws {MalformedError} */
export function readConnectReply(payload: Buffer): ConnectReply {
  const reader = new JuteReader(payload);
  reader.int();
  const timeoutMs = reader.int();
  const id = reader.long();
  const password = reader.bytes();
  // Servers before 3.4 don't say.
  const readOnly = reader.remaining > 0 && reader.bool();
  return { timeoutMs, identity: { id, password }, readOnly };
}

/** As in the port: 16 lowercase hex digits. */
export function sessionIdText(id: bigint): string {
  return BigInt.asUintN(64, id).toString(16).padStart(16, '0');
}

/** The inverse of {@link sessionIdText}. */
export function sessionIdOf(text: string): bigint {
  return BigInt.asIntN(64, BigInt(`0x${text}`));
}
