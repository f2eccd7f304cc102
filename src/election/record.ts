import { TermRecordError } from '../errors.js';
import { formatToken, parseToken, type Token } from '../token.js';
import { isObject, type Metadata, parseObject } from './candidate.js';

/** How a term ended. `vanished`: nobody said, and its node was gone. */
export type EndHow = 'resigned' | 'paused' | 'transferred' | 'evicted' | 'died' | 'vanished';

/** A pause that stands: nobody claims a term until it is lifted. */
export interface Pause {
  /** Who asked for it. */
  readonly by: string;
  /** ISO 8601 by the wall clock of who asked for it. */
  readonly at: string;
  /** Why. */
  readonly reason: string;
}

/** A transfer that stands: who is to lead next. */
export interface Transfer {
  /** The candidate's node. */
  readonly to: string;
  /** Who asked for it. */
  readonly by: string;
  /** ISO 8601 by the wall clock of who asked for it. */
  readonly at: string;
  /** Why. */
  readonly reason: string;
  /** ISO 8601. Past it the transfer is void. */
  readonly deadline: string;
}

/** The term before, as the record of the one after it has it. */
export interface PreviousTerm {
  /** Its number. */
  readonly term: number;
  /** Its fencing token. */
  readonly token: Token;
  /** Who led. */
  readonly leaderId: string;
  /** How it ended. */
  readonly end: EndHow;
}

/** One term as its record states it. */
export interface TermOfRecord {
  /** 1, 2, 3, … per election. */
  readonly term: number;
  readonly token: Token;
  /** The leader's candidate node (its name, not its path). */
  readonly node: string;
  readonly leaderId: string;
  /** The name of the leader's session node, where its renewals are written. */
  readonly session: string;
  readonly leaseMs: number;
  readonly metadata: Metadata;
  readonly electedAt: string;
  readonly ended: { readonly at: string; readonly how: EndHow } | null;
}

/**
 * The one record of an election, changed by compare-and-set only: since pause, transfer, floor and
 * claim share one version, they can't race one another.
 */
export interface TermRecord {
  /** The latest term, or null while nobody has led yet. */
  readonly latest: TermOfRecord | null;
  /** Added to the czxid of a candidate's node to make its token; raised after a restored or rebuilt ensemble. */
  readonly floor: bigint;
  readonly pause: Pause | null;
  readonly transfer: Transfer | null;
  readonly previous: PreviousTerm | null;
}

export const EMPTY_RECORD: TermRecord = { latest: null, floor: 0n, pause: null, transfer: null, previous: null };

const ENDS: ReadonlySet<unknown> = new Set(['resigned', 'paused', 'transferred', 'evicted', 'died', 'vanished']);

export function encodeRecord(record: TermRecord): Uint8Array {
  const { latest, previous } = record;
  return new TextEncoder().encode(
    JSON.stringify({
      v: 1,
      ...(latest === null ? { term: 0 } : { ...latest, token: formatToken(latest.token) }),
      floor: record.floor.toString(),
      pause: record.pause,
      transfer: record.transfer,
      previous: previous === null ? null : { ...previous, token: formatToken(previous.token) },
    }),
  );
}

/**
 * @throws {TermRecordError} when the bytes are no record of version 1: claiming over what can't be read could end a
 *   term that somebody holds
 */
export function decodeRecord(data: Uint8Array, path: string): TermRecord {
  if (data.length === 0) return EMPTY_RECORD;
  const value = parseObject(data);
  if (value === null) throw unreadable(path, 'it is not a JSON object');
  if (value['v'] !== 1) throw unreadable(path, `its version is ${JSON.stringify(value['v'])}, this release reads 1`);
  try {
    return {
      latest: value['term'] === 0 ? null : decodeTerm(value),
      floor: floor(value),
      pause: value['pause'] == null ? null : strings(value['pause'], ['by', 'at', 'reason']),
      transfer: value['transfer'] == null ? null : strings(value['transfer'], ['to', 'by', 'at', 'reason', 'deadline']),
      previous: value['previous'] == null ? null : decodePrevious(value['previous']),
    };
  } catch (error) {
    throw unreadable(path, (error as Error).message, error);
  }
}

function decodeTerm(value: Record<string, unknown>): TermOfRecord {
  const ended = value['ended'];
  return {
    term: positive(value, 'term'),
    token: parseToken(text(value, 'token')),
    node: text(value, 'node'),
    leaderId: text(value, 'leaderId'),
    session: text(value, 'session'),
    leaseMs: positive(value, 'leaseMs'),
    metadata: decodeMetadata(value['metadata']),
    electedAt: text(value, 'electedAt'),
    ended: ended == null ? null : { ...strings(ended, ['at']), how: end(ended, 'how') },
  };
}

/** One for the thousands that say nothing of themselves. */
const NOTHING: Metadata = Object.freeze({});

function decodeMetadata(value: unknown): Metadata {
  return isObject(value) && Object.keys(value).length > 0 ? value : NOTHING;
}

function decodePrevious(value: unknown): PreviousTerm {
  if (!isObject(value)) throw new Error('"previous" is not an object');
  return {
    term: positive(value, 'term'),
    token: parseToken(text(value, 'token')),
    leaderId: text(value, 'leaderId'),
    end: end(value, 'end'),
  };
}

function end(value: unknown, key: string): EndHow {
  const how = isObject(value) ? value[key] : undefined;
  if (!ENDS.has(how)) throw new Error(`${JSON.stringify(key)} is ${JSON.stringify(how)}`);
  return how as EndHow;
}

function text(value: Record<string, unknown>, key: string): string {
  const found = value[key];
  if (typeof found !== 'string') throw new Error(`${JSON.stringify(key)} is not text`);
  return found;
}

function floor(value: Record<string, unknown>): bigint {
  const found = text(value, 'floor');
  if (!/^(0|[1-9][0-9]{0,18})$/.test(found)) throw new Error(`"floor" is ${JSON.stringify(found)}`);
  return found === '0' ? 0n : BigInt(found);
}

function positive(value: Record<string, unknown>, key: string): number {
  const found = value[key];
  if (typeof found !== 'number' || !Number.isSafeInteger(found) || found < 1) {
    throw new Error(`${JSON.stringify(key)} is not a positive whole number`);
  }
  return found;
}

function strings<K extends string>(value: unknown, keys: readonly K[]): Record<K, string> {
  if (!isObject(value)) throw new Error('an object is expected');
  return Object.fromEntries(keys.map((key) => [key, text(value, key)])) as Record<K, string>;
}

function unreadable(path: string, why: string, cause?: unknown): TermRecordError {
  return new TermRecordError(
    `the term record ${path} can't be read: ${why}. Upgrade this worker if a newer release wrote it; ` +
      'if it was damaged by hand, stop all candidates and repair or delete it',
    { cause },
  );
}
