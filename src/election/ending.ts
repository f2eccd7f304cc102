import type { Token } from '../token.js';
import type { RecordView } from './campaign.js';
import type { Host } from './host.js';
import type { ElectionPaths } from './names.js';
import { isKind } from './nodes.js';
import { sessionLives, untilAnswered } from './persistence.js';
import type { Session } from './port.js';
import { readRecord } from './reading.js';
import { type EndHow, encodeRecord, type TermRecord } from './record.js';

/**
 * Writes into the record that the term with this token is over, by compare-and-set, until that is
 * confirmed, the record names another term, or the session is dead. The first attempt is sent before
 * this returns to its caller, so that what the caller sends next is applied after it.
 *
 * @returns whether the end is on record
 */
export async function announceEnd(
  host: Host,
  session: Session,
  path: string,
  token: Token,
  how: EndHow,
  known: RecordView | null,
): Promise<boolean> {
  let view = known;
  try {
    for (;;) {
      view ??= await readRecord(host, session, path, false);
      const { record, version } = view;
      if (record.latest === null || record.latest.token !== token) return false;
      const data = endedRecord(host, record, token, how);
      if (data === null) return true;
      if (await compareAndSet(host, session, path, data, version)) return true;
      view = null;
    }
  } catch (error) {
    if (sessionLives(session)) {
      host.logger.error(
        { path, err: error },
        'the end of a term could not be announced: its successor will be patient',
      );
    }
    return false;
  }
}

/**
 * Marks the record as in {@link announceEnd} and deletes our candidate node, in one transaction: nobody ever sees one without
 * the other. Tried once.
 *
 * @returns whether that is confirmed; always false where the driver has no transactions
 */
export async function endAtOnce(
  host: Host,
  session: Session,
  path: string,
  token: Token,
  how: EndHow,
  { record, version }: RecordView,
  node: string,
): Promise<boolean> {
  const data = endedRecord(host, record, token, how);
  if (session.transaction === undefined || data === null) return false;
  return session
    .transaction([
      { do: 'write', path, data, version },
      { do: 'remove', path: node },
    ])
    .then(
      () => true,
      () => false,
    );
}

/** The record with its latest term ended; null where that isn't the one with this token, or has ended before. */
function endedRecord(host: Host, record: TermRecord, token: Token, how: EndHow): Uint8Array | null {
  const { latest } = record;
  if (latest === null || latest.token !== token || latest.ended !== null) return null;
  const ended = { at: new Date(host.clock.wall()).toISOString(), how };
  return encodeRecord({ ...record, latest: { ...latest, ended } });
}

/** Whether the write was applied; false where the record has changed since it was read, be it by a first attempt of ours whose reply was lost. */
async function compareAndSet(
  host: Host,
  session: Session,
  path: string,
  data: Uint8Array,
  version: number,
): Promise<boolean> {
  try {
    await untilAnswered(host, session, () => session.write(path, data, version));
    return true;
  } catch (error) {
    if (isKind(error, 'bad_version')) return false;
    throw error;
  }
}

/** A claim that may have been applied although its term was never opened: nobody acts under it, so nobody need wait for it. */
export function withdrawClaim(host: Host, session: Session, paths: ElectionPaths, token: Token): void {
  void announceEnd(host, session, paths.term, token, 'resigned', null);
}
