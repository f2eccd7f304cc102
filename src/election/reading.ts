import type { RecordView } from './campaign.js';
import type { Host } from './host.js';
import { untilAnswered } from './persistence.js';
import type { Session } from './port.js';
import { decodeRecord, EMPTY_RECORD } from './record.js';

/**
 * Reads the term record, again and again until a server answers.
 *
 * @throws {TermRecordError} when it can't be read as one
 * @throws {CoordinatorError} when the session is dead
 */
export async function readRecord(host: Host, session: Session, path: string, watch: boolean): Promise<RecordView> {
  const found = await untilAnswered(host, session, () => session.read(path, { watch }));
  if (found === null) return { record: EMPTY_RECORD, version: -1, current: false };
  return { record: decodeRecord(found.data, path), version: found.stat.version, current: watch };
}
