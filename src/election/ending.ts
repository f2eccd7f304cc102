import { CoordinatorError } from '../errors.js';
import type { Token } from '../token.js';
import type { RecordView } from './campaign.js';
import type { Host } from './host.js';
import type { ElectionPaths } from './names.js';
import { isKind } from './nodes.js';
import { sessionLives } from './persistence.js';
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
  for (;;) {
    try {
      view ??= await readRecord(host, session, path, false);
      const { latest } = view.record;
      if (latest === null || latest.token !== token) return false;
      if (latest.ended !== null) return true;
      const at = new Date(host.clock.wall()).toISOString();
      await session.write(
        path,
        encodeRecord({ ...view.record, latest: { ...latest, ended: { at, how } } }),
        view.version,
      );
      return true;
    } catch (error) {
      if (!sessionLives(session)) return false;
      const again = isKind(error, 'bad_version') || (error instanceof CoordinatorError && error.retriable);
      if (!again) {
        host.logger.error(
          { path, err: error },
          'the end of a term could not be announced: its successor will be patient',
        );
        return false;
      }
      view = null;
    }
  }
}

/** A claim that may have been applied although its term was never opened: nobody acts under it, so nobody need wait for it. */
export function withdrawClaim(host: Host, session: Session, paths: ElectionPaths, token: Token): void {
  void announceEnd(host, session, paths.term, token, 'resigned', null);
}
