import { InvalidTokenError } from '../errors.js';
import { formatToken, parseToken, type Token } from '../token.js';
import { InvalidResourceError } from './errors.js';
import { checkResource, type FencedTerm } from './guard.js';

/** The token, as decimal digits. */
export const TOKEN_HEADER = 'fencing-token';
/** The resource's name, percent-encoded as by `encodeURIComponent`: a header can't carry every name. */
export const RESOURCE_HEADER = 'fencing-resource';
/** Who presents the token, percent-encoded. Optional: for people who read refusals. */
export const HOLDER_HEADER = 'fencing-holder';

/** The headers that present a term, for one request or one message: asserts the term, so take them anew for each. */
export function fencingHeaders(term: FencedTerm, resource: string): Record<string, string> {
  term.assert();
  const headers: Record<string, string> = {
    [TOKEN_HEADER]: formatToken(term.token),
    [RESOURCE_HEADER]: encodeURIComponent(checkResource(resource)),
  };
  if (term.leaderId !== undefined) headers[HOLDER_HEADER] = encodeURIComponent(wellFormed(term.leaderId));
  return headers;
}

/** A header as brokers and servers give it: text, bytes, or absent. */
export type HeaderValue = string | Uint8Array | readonly string[] | undefined | null;

/** What was presented; `undefined` for what was absent. */
export interface Presented {
  readonly token: Token | undefined;
  readonly resource: string | undefined;
  readonly holder: string | undefined;
}

/**
 * Reads the headers.
 *
 * @throws {InvalidTokenError} the token is there and isn't one, or is there twice
 * @throws {InvalidResourceError} the resource's name can't be one, isn't percent-encoded, or is there twice
 */
export function readFencing(header: (name: string) => HeaderValue): Presented {
  const token = text(header(TOKEN_HEADER), (value) => new InvalidTokenError(value));
  const resource = text(
    header(RESOURCE_HEADER),
    (value) => new InvalidResourceError(`${RESOURCE_HEADER} must be one text, not ${value}`),
  );
  const holder = text(header(HOLDER_HEADER), () => undefined);
  return {
    token: token === undefined ? undefined : parseToken(token),
    resource: resource === undefined ? undefined : checkResource(decode(resource)),
    holder: holder === undefined ? undefined : lenient(holder),
  };
}

/** The header's one text. What is no text, or several, is `refused`; where that makes no error, it counts as absent. */
function text(value: unknown, refused: (shown: string) => Error | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value) && value.length === 1 && !Array.isArray(value[0])) return text(value[0], refused);
  // Brokers give what senders put in: numbers, which may have been rounded, booleans, tables.
  const error = refused(shown(value));
  if (error !== undefined) throw error;
  return undefined;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return `${value.length} of them`;
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`;
}

/** What `encodeURIComponent` leaves. */
const ENCODED = /^[\w!~*'().%-]*$/;

function decode(value: string): string {
  // Two headers may have been joined by a comma on their way, and raw bytes be read as another encoding: names that somebody else has.
  if (!ENCODED.test(value)) throw new InvalidResourceError(`${RESOURCE_HEADER} must be percent-encoded`);
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    throw new InvalidResourceError(`${RESOURCE_HEADER} must be percent-encoded UTF-8`);
  }
}

function lenient(value: string): string {
  if (!value.includes('%')) return value.slice(0, 256);
  try {
    return decodeURIComponent(value).slice(0, 256);
  } catch {
    return value.slice(0, 256);
  }
}

function wellFormed(value: string): string {
  return Buffer.from(value).toString('utf8');
}
