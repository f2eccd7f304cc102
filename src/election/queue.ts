import { SequenceExhaustedError } from '../errors.js';

/**
 * Candidates' node names and their order. `_c_<uuid>-lock-<10 digits>` is the one format that
 * Curator, go-zookeeper and kazoo (by a subclass with that word in its names) order as we do.
 */

/** What stands between the uuid and the sequence number. `latch-` joins a Curator LeaderLatch fleet. */
export const DEFAULT_NODE_PREFIX = 'lock-';

/** The same in kazoo's own names, where neither a subclass nor `extra_lock_patterns` has changed them. */
export const KAZOO_NODE_PREFIX = '__lock__';

/**
 * Whether those who use this word look again when the data of the node before them changes: kazoo and Curator's mutex do.
 * Curator's LeaderLatch watches once, and acts on a deletion only: a change would use its watch up.
 */
export function bearsTouch(prefix: string): boolean {
  return prefix === DEFAULT_NODE_PREFIX || prefix === KAZOO_NODE_PREFIX;
}

/** ZooKeeper's counter sticks, then turns negative, at the end of a signed 32-bit integer. */
const LAST_SEQUENCE = 2 ** 31 - 1;

/** A candidate closer to the end than this is refused, so that nobody ever meets the end itself. */
export const SEQUENCE_RESERVE = 1_000_000;

/**
 * As ZooKeeper prints it: `%010d`, so the sign of a counter that has wrapped takes one of the ten places, or an
 * eleventh; there it shows behind the dash that ends the prefix.
 */
const SEQUENCE = /(?:(?<=-)-[0-9]{10}|[0-9]{10}|-[0-9]{9})$/;
const WITH_UUID = /^_c_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-/;

/** Where a uuid says of which version it is. Ours are of version 8, which is free for own uses; others make them of version 4. */
const VERSION = { place: 14, ours: '8' };

/** The node's name before the coordinator appends the sequence number. */
export function nodePrefix(uuid: string, prefix = DEFAULT_NODE_PREFIX): string {
  return `_c_${uuid}-${prefix}`;
}

/** A node's sequence number, or null where the name has none: such a node is no candidate. */
export function sequenceOf(node: string): number | null {
  // The end is all that it looks at; from the front it would try each place of a long name.
  const digits = SEQUENCE.exec(node.slice(-12))?.[0];
  return digits === undefined ? null : Number(digits);
}

/** The uuid of one candidacy, made of a random one: its version tells in any queue that the candidate is of our kind. */
export function candidateUuid(random: string): string {
  return random.slice(0, VERSION.place) + VERSION.ours + random.slice(VERSION.place + 1);
}

/** The uuid in a name of our format, or null. */
export function uuidOf(node: string): string | null {
  return WITH_UUID.exec(node)?.[1] ?? null;
}

/** Whether the node's name says that its candidate is of our kind: it leads by a claim, not by being first. */
export function isOurs(node: string): boolean {
  return uuidOf(node)?.[VERSION.place] === VERSION.ours;
}

/** Candidates only, first come first; of two with one number (a counter that stuck) the name decides, for everyone alike. */
export function inOrder(nodes: readonly string[]): string[] {
  return nodes
    .map((node) => ({ node, sequence: sequenceOf(node) }))
    .filter((entry): entry is { node: string; sequence: number } => entry.sequence !== null)
    .sort((a, b) => a.sequence - b.sequence || (a.node < b.node ? -1 : 1))
    .map((entry) => entry.node);
}

/** Those of `ordered` that stand before `node`. */
export function aheadOf(ordered: readonly string[], node: string): string[] {
  return ordered.slice(0, Math.max(0, ordered.indexOf(node)));
}

/** How many more candidates the queue can number. */
export function sequenceHeadroom(sequence: number): number {
  return sequence < 0 ? 0 : LAST_SEQUENCE - sequence;
}

/**
 * @throws {SequenceExhaustedError} when the number is too near to the end, or past it
 */
export function checkHeadroom(node: string, queuePath: string): void {
  const sequence = sequenceOf(node);
  if (sequence === null || sequenceHeadroom(sequence) >= SEQUENCE_RESERVE) return;
  throw new SequenceExhaustedError(
    `the queue ${queuePath} has numbered its candidates up to ${sequence} of ${LAST_SEQUENCE}: ` +
      'stop all candidates, delete the empty queue node so that it starts again at 0, and start them again ' +
      '(tokens and terms are kept: they do not depend on the sequence)',
  );
}
