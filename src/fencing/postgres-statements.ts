import type { Token } from '../token.js';
import type { FencedTerm } from './guard.js';
import { literal } from './postgres-schema.js';

/**
 * What is sent for one term at one resource. Simple queries, which take no parameters: every value is a number or a
 * {@link literal}. Written once, as they are the same for each transaction but for two numbers.
 */
export class Statements {
  readonly resource: string;
  readonly token: Token;
  readonly leaderId: string | undefined;
  /** Looks whether the transaction still holds the fence, and commits. */
  readonly commit: string;
  readonly #first: string;
  readonly #repeated: string;

  /** @param schema quoted */
  constructor(schema: string, resource: string, { token, leaderId }: FencedTerm) {
    this.resource = resource;
    this.token = token;
    this.leaderId = leaderId;
    const holder = leaderId?.replaceAll('\0', '') || null;
    const name = literal(resource);
    const held = literal(JSON.stringify({ [resource]: [String(token), holder] }));
    this.commit = `CALL ${schema}.still_held(${name},'${token}',${held});COMMIT`;
    this.#first = `SELECT ${schema}.fence(${name},${token}::bigint,${holder === null ? 'NULL' : literal(holder)},`;
    this.#repeated = `CALL ${schema}.fence_repeated(${name},'${token}',${held},'`;
  }

  /** Accepts the token. Both in whole milliseconds: what remains of the lease, and how long the transaction may last. */
  first(remaining: number, hold: number): string {
    return `${this.#first}${remaining},${hold})`;
  }

  /** The same where the token has been seen accepted before. */
  repeated(remaining: number, hold: number): string {
    return `${this.#repeated}${remaining}','${hold}')`;
  }
}
