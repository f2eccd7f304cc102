import {
  AlreadyPausedError,
  FloorTooLowError,
  InvalidOptionError,
  NotPausedError,
  TransferRefusedError,
} from '../errors.js';
import type { Change } from './change-record.js';
import { shown } from './checks.js';
import type { Pause, TermRecord, Transfer } from './record.js';

/** Who asks for a change of the record, and why: shown to everybody whom it concerns, and kept in the history. */
export interface Order {
  /** At most 200 characters. */
  readonly by: string;
  /** At most 500 characters. */
  readonly reason: string;
}

const BY_MAX = 200;
const REASON_MAX = 500;

/** The floor may go up to here: whatever transaction id is added to it, the token still fits into 63 bits. */
export const MAX_FLOOR = 2n ** 62n;

/** How far back the target of a transfer may stand: all before it join again. */
export const TRANSFER_REACH = 16;

const CONTROL = /\p{Cc}/u;

/** @throws {InvalidOptionError} naming what is missing or can't be kept */
export function checkOrder(what: string, { by, reason }: Order): Order {
  return { by: words(what, 'by', by, BY_MAX), reason: words(what, 'reason', reason, REASON_MAX) };
}

function words(what: string, option: 'by' | 'reason', value: unknown, most: number): string {
  const fix = option === 'by' ? 'say who asks for it' : 'say why, for those who read the history';
  if (typeof value !== 'string' || value.trim() === '') {
    throw new InvalidOptionError(option, `${what}: ${option} ${shown(value)} must be text that isn't empty: ${fix}`);
  }
  if (value.length > most || CONTROL.test(value)) {
    throw new InvalidOptionError(
      option,
      `${what}: ${option} ${shown(value)} must be one line of at most ${most} characters`,
    );
  }
  return value.trim();
}

/** The record with a pause in it. A transfer that was asked for before is overtaken by it. */
export function paused(record: TermRecord, order: Order, at: string, election: string): TermRecord {
  const { pause } = record;
  if (pause !== null) {
    throw new AlreadyPausedError(
      `${JSON.stringify(election)} is paused already, since ${pause.at} by ${pause.by}: ${pause.reason}. ` +
        'Resume it, or leave it',
    );
  }
  return { ...record, pause: { by: order.by, at, reason: order.reason }, transfer: null };
}

/** Lifts the pause that stands when it is first tried, and no other: somebody may pause again before we have our reply. */
export function resumption(election: string): Change {
  let lifted: Pause | null = null;
  const isAnother = (pause: Pause) => lifted !== null && (pause.at !== lifted.at || pause.by !== lifted.by);
  return {
    edit(record) {
      const { pause } = record;
      if (pause === null) {
        throw new NotPausedError(`${JSON.stringify(election)} is not paused: there is nothing to resume`);
      }
      if (isAnother(pause)) return record;
      lifted = pause;
      return { ...record, pause: null };
    },
    made: ({ pause }) => pause === null || isAnother(pause),
  };
}

/** The record with a transfer in it, in the place of an earlier one: the last request wins. But a pause beats it. */
export function transferring(record: TermRecord, transfer: Transfer, election: string): TermRecord {
  const { pause, latest } = record;
  if (pause !== null) {
    throw new TransferRefusedError(
      `${JSON.stringify(election)} is paused since ${pause.at} by ${pause.by}: ${pause.reason}. Resume it first`,
    );
  }
  if (latest !== null && latest.node === transfer.to && latest.ended === null) {
    throw new TransferRefusedError(`${transfer.to} (${latest.leaderId}) leads ${JSON.stringify(election)} already`);
  }
  return { ...record, transfer };
}

/** The record in which the term of this node, if it is the latest and runs, has ended by an eviction; or as it was. */
export function evicted(record: TermRecord, node: string, at: string): TermRecord {
  const { latest } = record;
  if (latest === null || latest.node !== node || latest.ended !== null) return record;
  return { ...record, latest: { ...latest, ended: { at, how: 'evicted' } } };
}

export function floorRaised(record: TermRecord, to: bigint, election: string): TermRecord {
  if (to <= record.floor) {
    throw new FloorTooLowError(
      `the floor of ${JSON.stringify(election)} is ${record.floor} already, and is only ever raised: ${to} is not above it`,
    );
  }
  return { ...record, floor: to };
}

/** @throws {InvalidOptionError} */
export function checkFloor(to: unknown): bigint {
  if (typeof to === 'bigint' && to > 0n && to <= MAX_FLOOR) return to;
  throw new InvalidOptionError(
    'to',
    `raiseFloor: to ${shown(to)} must be a bigint from 1n to ${MAX_FLOOR}n: the highest token that a resource has accepted`,
  );
}
