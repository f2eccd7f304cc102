import { CoordinatorError } from '../errors.js';
import type { Host } from './host.js';
import type { ElectionPaths } from './names.js';
import { createBelow, isKind } from './nodes.js';
import { sessionLives } from './persistence.js';
import type { Membership, Session } from './port.js';
import { readRecord } from './reading.js';
import { encodeRecord, type TermRecord } from './record.js';

/** A change of the record that somebody asks for. */
export interface Change {
  /** The record as it is to be; the same one where there is nothing to change. Throws where it is refused. */
  edit(record: TermRecord): TermRecord;
  /** Whether the record shows that the change was made: asked when the reply to an attempt was lost. */
  made(record: TermRecord): boolean;
}

/**
 * Changes the record by compare-and-set, again and again until it is done or refused: over changes that others make at
 * the same time, over lost replies, and over sessions that die.
 *
 * @returns the record before and after
 * @throws what `edit` throws; {@link TermRecordError}; `signal.reason` when aborted
 */
export async function changeRecord(
  host: Host,
  membership: Membership,
  paths: ElectionPaths,
  change: Change,
  signal: AbortSignal,
): Promise<{ before: TermRecord; after: TermRecord }> {
  let unclear = false;
  for (;;) {
    const { session } = await membership.attach(signal);
    try {
      for (;;) {
        signal.throwIfAborted();
        const { record, version } = await readRecord(host, session, paths.term, false);
        if (unclear && change.made(record)) return { before: record, after: record };
        const edited = change.edit(record);
        if (edited === record) return { before: record, after: record };
        const outcome = await attempt(session, paths, edited, version);
        if (outcome === 'done') return { before: record, after: edited };
        if (outcome === 'unclear') unclear = true;
      }
    } catch (error) {
      if (sessionLives(session) || !(error instanceof CoordinatorError)) throw error;
      // Another session, another try; whether the last one was applied is not known.
      unclear = true;
    }
  }
}

async function attempt(
  session: Session,
  paths: ElectionPaths,
  record: TermRecord,
  version: number,
): Promise<'done' | 'overtaken' | 'unclear'> {
  const data = encodeRecord(record);
  try {
    if (version === -1) await createBelow(session, paths.election, paths.term, data, 'persistent');
    else await session.write(paths.term, data, version);
    return 'done';
  } catch (error) {
    if (isKind(error, 'bad_version', 'node_exists', 'no_node')) return 'overtaken';
    if (error instanceof CoordinatorError && error.retriable && sessionLives(session)) return 'unclear';
    throw error;
  }
}
