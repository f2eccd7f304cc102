import { TenureError } from '../errors.js';
import { type Backoff, backoffMs } from '../lease/backoff.js';
import { Candidacy, type Outcome, type Won } from './candidacy.js';
import type { Commons } from './commons.js';
import type { Contest } from './contest.js';
import { succeeded } from './history.js';
import { sleep } from './host.js';
import { Keeper } from './keeper.js';
import { isKind } from './nodes.js';
import { sessionLives } from './persistence.js';
import type { Attachment } from './port.js';
import { Term } from './term.js';

/** Between one session that was lost and the next try, for candidates and observers alike. */
export const REJOIN: Backoff = { baseMs: 50, capMs: 5_000 };

/**
 * Candidacy after candidacy, until one is won: over lost sessions, deletions by hand, holds, and transfers to others.
 *
 * @returns null where we were not to wait, and somebody stands before us or a hold keeps us from leading
 * @throws `stop.reason` when aborted; what joining again can't mend
 */
export async function campaignUntilWon(
  commons: Commons,
  contest: Contest,
  drainTimeoutMs: number,
  wait: boolean,
  stop: AbortSignal,
): Promise<Term | null> {
  const { host, membership, holds } = commons;
  const { election, candidateId } = contest;
  const startedAt = host.clock.monotonic();
  const ended = (outcome: 'won' | 'aborted' | 'failed') =>
    host.emit('campaign_ended', { election, candidateId, outcome, durationMs: host.clock.monotonic() - startedAt });
  host.emit('campaign_started', { election, candidateId });
  try {
    for (let attempt = 0; ; attempt++) {
      if (!wait && holds.reason(election) !== null) {
        ended('aborted');
        return null;
      }
      await holds.released(election, stop);
      const attachment = await membership.attach(stop);
      // A session may be long in coming, and a hold have come meanwhile.
      if (holds.reason(election) !== null) continue;
      const outcome = await candidacy(commons, contest, attachment, wait, stop);
      if (outcome?.kind === 'claimed') {
        const term = begin(commons, contest, drainTimeoutMs, attachment, outcome);
        // Aborted, or held, in the very turn in which the claim was confirmed.
        const held = holds.reason(election) !== null;
        if (stop.aborted || held) await term.resign();
        if (stop.aborted) throw stop.reason;
        if (held) continue;
        ended('won');
        return term;
      }
      if (outcome?.kind === 'not_first') {
        ended('aborted');
        return null;
      }
      if (outcome?.kind === 'held' || (outcome?.kind === 'out' && outcome.why === 'stepped_back')) continue;
      await sleep(host, backoffMs(REJOIN, attempt, host.random), stop);
    }
  } catch (error) {
    ended(stop.aborted ? 'aborted' : 'failed');
    throw error;
  }
}

function begin(commons: Commons, contest: Contest, drainTimeoutMs: number, attachment: Attachment, won: Won): Term {
  const { host, terms, chronicle } = commons;
  const term = new Term(new Keeper(host, attachment, contest, won, drainTimeoutMs));
  terms.add(term);
  const node = `${contest.paths.queue}/${won.claimed.self.node}`;
  attachment.lifeline?.leads(node);
  void term.released.then(() => {
    terms.delete(term);
    attachment.lifeline?.left(node);
  });
  chronicle.note(contest.paths, succeeded(won));
  return term;
}

/** Null when the session died: another one, and another try. */
async function candidacy(
  { host, holds }: Commons,
  contest: Contest,
  attachment: Attachment,
  wait: boolean,
  stop: AbortSignal,
): Promise<Outcome | { kind: 'held' } | null> {
  const standing = new Candidacy(host, attachment, contest);
  let held = false;
  // No signal of its own: ten thousand of them would weigh more than all else that is kept of a candidacy.
  const stopListening = holds.onChange(() => {
    const reason = holds.reason(contest.election);
    if (reason === null || held) return;
    held = true;
    standing.leave(new Error(`held: ${reason}`));
  });
  try {
    return await standing.run(wait, stop);
  } catch (error) {
    if (stop.aborted) throw stop.reason;
    if (held) return { kind: 'held' };
    const died = !sessionLives(attachment.session) || isKind(error, 'session_expired', 'session_closed');
    if (died || (error instanceof TenureError && error.retriable)) return null;
    throw error;
  } finally {
    stopListening();
  }
}
