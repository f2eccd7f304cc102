import { InvalidTokenError } from './errors.js';

/**
 * The fencing token of a term: `floor + czxid` of the leader's candidate node.
 * Strictly increasing from term to term, so a resource that remembers the highest one
 * it has accepted can refuse every earlier leader.
 *
 * A bigint between 1 and 2^63 − 1. Outside the process (JSON, headers, SQL text) it is
 * always a decimal string: a JavaScript number would round it above 2^53.
 */
export type Token = bigint;

/** The highest token there can be: ZooKeeper's zxid is a signed 64-bit integer. */
export const MAX_TOKEN: Token = 2n ** 63n - 1n;

const DECIMAL = /^[1-9][0-9]{0,18}$/;

/** Whether `value` is a token: a bigint from 1 to {@link MAX_TOKEN}. */
export function isToken(value: unknown): value is Token {
  return typeof value === 'bigint' && value >= 1n && value <= MAX_TOKEN;
}

/**
 * Reads a token from its decimal text: digits only, no sign, no leading zero.
 *
 * @throws {InvalidTokenError} for anything else, naming the text.
 */
export function parseToken(text: string): Token {
  if (typeof text !== 'string' || !DECIMAL.test(text)) throw new InvalidTokenError(text);
  const token = BigInt(text);
  if (token > MAX_TOKEN) throw new InvalidTokenError(text);
  return token;
}

/**
 * Writes a token as decimal text.
 *
 * @throws {InvalidTokenError} when the value is not a token.
 */
export function formatToken(token: Token): string {
  if (!isToken(token)) throw new InvalidTokenError(token);
  return token.toString();
}
