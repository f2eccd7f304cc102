import { InvalidElectionNameError } from '../errors.js';

/** Names of our own nodes below an election's path: a segment by that name would collide with them. */
const RESERVED: ReadonlySet<string> = new Set(['queue', 'term', 'history', 'sessions', '.', '..', 'zookeeper']);

/** Long enough for any name that people give, short enough for labels and log lines. */
const MAX_LENGTH = 256;

/** Control characters, the surrogates (lone ones have no UTF-8 form) and the private and non-character blocks that ZooKeeper refuses. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

/**
 * Checks an election's name: one or more segments joined by `/`.
 *
 * @returns the name, unchanged
 * @throws {InvalidElectionNameError} naming the rule that it breaks
 */
export function electionName(name: string): string {
  const refuse = (rule: string): never => {
    throw new InvalidElectionNameError(`election name ${JSON.stringify(name)?.slice(0, 300)}: ${rule}`);
  };
  if (typeof name !== 'string') refuse('must be a string');
  if (name === '') refuse('must not be empty');
  if (name.length > MAX_LENGTH) refuse(`must not be longer than ${MAX_LENGTH} characters, is ${name.length}`);
  if (FORBIDDEN.test(name)) refuse('must not contain control, private-use or surrogate characters');
  for (const segment of name.split('/')) {
    if (segment === '') refuse("must not contain an empty segment: no leading, trailing or doubled '/'");
    if (RESERVED.has(segment)) refuse(`must not contain the segment '${segment}', which is reserved`);
  }
  return name;
}

/** Whether a znode below an election, or below the root, by this name is one of ours and no part of another election's name. */
export function isReserved(segment: string): boolean {
  return RESERVED.has(segment);
}

/** Where everything of one election lies. */
export interface ElectionPaths {
  readonly election: string;
  readonly queue: string;
  readonly term: string;
  readonly history: string;
}

/** @throws {InvalidElectionNameError} */
export function electionPaths(root: string, name: string, queuePath?: string): ElectionPaths {
  return new Paths(`${root}/${electionName(name)}`, queuePath ?? null);
}

/** Made each time they are asked for: thousands of elections would keep thousands of each. */
class Paths implements ElectionPaths {
  readonly election: string;
  readonly #queue: string | null;

  constructor(election: string, queue: string | null) {
    this.election = election;
    this.#queue = queue;
  }

  get queue(): string {
    return this.#queue ?? `${this.election}/queue`;
  }

  get term(): string {
    return `${this.election}/term`;
  }

  get history(): string {
    return `${this.election}/history`;
  }
}

/** The parent of all session nodes. */
export function sessionsPath(root: string): string {
  return `${root}/sessions`;
}
