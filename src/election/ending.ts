import type { Token } from '../token.js';
import type { RecordView } from './campaign.js';
import type { Host } from './host.js';
import type { ElectionPaths } from './names.js';
import { isKind } from './nodes.js';
import { sessionLives, untilAnswered } from './persistence.js';
import type { Session } from './port.js';
import { readRecord } from './reading.js';
import { type EndHow, encodeRecord } from './record.js';

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
      if (record.latest.ended !== null) return true;
      const ended = { at: new Date(host.clock.wall()).toISOString(), how };
      const data = encodeRecord({ ...record, latest: { ...record.latest, ended } });
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
