import { CandidateTooLargeError, InvalidOptionError } from '../errors.js';
import { isOurs } from './queue.js';

/** What a user may say about a candidate: shown to observers, never interpreted. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Who a candidate is, as its znode says. */
export interface CandidateData {
  /** As it calls itself. */
  readonly id: string;
  /** The name of its machine. */
  readonly host: string;
  /** Its process there. */
  readonly pid: number;
  /** The option `metadata` of its election. */
  readonly metadata: Metadata;
  /** ISO 8601, by the candidate's own wall clock: for people to read. */
  readonly joinedAt: string;
}

/** The most that a candidate's data may weigh, in bytes of JSON. */
export const CANDIDATE_MAX_BYTES = 8192;

/**
 * @throws {CandidateTooLargeError} when id and metadata together don't fit; {@link InvalidOptionError} when JSON can't carry them
 */
export function encodeCandidate(candidate: CandidateData): Uint8Array {
  let text: string;
  try {
    text = JSON.stringify({ v: 1, ...candidate });
  } catch (error) {
    throw new InvalidOptionError('metadata', `metadata can't be written as JSON: ${(error as Error).message}`);
  }
  const data = new TextEncoder().encode(text);
  if (data.length > CANDIDATE_MAX_BYTES) {
    throw new CandidateTooLargeError(
      `candidate ${JSON.stringify(candidate.id.slice(0, 80))}: id and metadata take ${data.length} bytes of JSON, ` +
        `at most ${CANDIDATE_MAX_BYTES} are allowed: shorten them, or keep the metadata elsewhere and put a reference here`,
    );
  }
  return data;
}

/** Checks metadata that is to be shown beside an id as if both were a candidate's. @throws {CandidateTooLargeError} */
export function checkSize(id: string, metadata: Metadata): void {
  encodeCandidate({ id, host: '', pid: 0, metadata, joinedAt: '' });
}

/** A candidate's data as far as it can be read. Whoever wrote it may be foreign: any bytes, or none, are possible. */
export function decodeCandidate(data: Uint8Array): CandidateData | null {
  const value = parseObject(data);
  if (value === null || typeof value['id'] !== 'string') return null;
  return {
    id: value['id'],
    host: typeof value['host'] === 'string' ? value['host'] : '',
    pid: typeof value['pid'] === 'number' ? value['pid'] : 0,
    metadata: isObject(value['metadata']) ? value['metadata'] : {},
    joinedAt: typeof value['joinedAt'] === 'string' ? value['joinedAt'] : '',
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Made once: making one takes longer than reading a record. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON object in these bytes, or null where there is none. */
export function parseObject(data: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(UTF8.decode(data));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * Whether a candidate is of another library: it leads as soon as it is first, and claims nothing. Ours are known by their
 * names in every queue, and by their data in our own.
 */
export function isForeign(node: string, data: CandidateData | null): boolean {
  return data === null && !isOurs(node);
}

/** A foreign candidate's data as text that is safe to show, at most 80 characters. */
export function printable(data: Uint8Array): string {
  return new TextDecoder()
    .decode(data.subarray(0, 320))
    .replace(/\p{Cc}/gu, '�')
    .slice(0, 80);
}
