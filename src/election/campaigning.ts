import { type Backoff, backoffMs } from '../lease/backoff.js';
import { Candidacy, type Won } from './candidacy.js';
import type { Commons } from './commons.js';
import type { Contest } from './contest.js';
import { succeeded } from './history.js';
import { type Host, sleep } from './host.js';
import { Keeper } from './keeper.js';
import type { Attachment } from './port.js';
import type { Stoppable } from './stop.js';
import { Term } from './term.js';

/** Between one session that was lost and the next try, for candidates and observers alike. */
export const REJOIN: Backoff = { baseMs: 50, capMs: 5_000 };

export interface CampaignSettings {
  readonly drainTimeoutMs: number;
  readonly wait: boolean;
  /** The term has no stage of recovery. */
  readonly byHand: boolean;
}

/**
 * Candidacy after candidacy, until one is won: over lost sessions, deletions by hand, holds, and transfers to others.
 *
 * @returns null where we were not to wait, and somebody stands before us or a hold keeps us from leading
 * @throws `stop.reason` when aborted; what joining again can't mend
 */
export async function campaignUntilWon(
  commons: Commons,
  contest: Contest,
  { drainTimeoutMs, wait, byHand }: CampaignSettings,
  stop: Stoppable,
): Promise<Term | null> {
  const { host, membership, holds, standing } = commons;
  const { election, candidateId } = contest;
  const startedAt = host.clock.monotonic();
  host.emit('campaign_started', { election, candidateId });
  try {
    for (let attempt = 0; ; attempt++) {
      if (!wait && holds.reason(election) !== null) {
        tellEnd(host, contest, startedAt, 'aborted');
        return null;
      }
      await holds.released(election, stop);
      const attachment = await membership.attach(stop);
      // A session may be long in coming, and a hold have come meanwhile.
      if (holds.reason(election) !== null) continue;
      const outcome = await new Candidacy(host, standing, attachment, contest, stop).run(wait);
      if (outcome.kind === 'claimed') {
        const term = begin(commons, contest, drainTimeoutMs, attachment, outcome);
        // Aborted, or held, in the very turn in which the claim was confirmed.
        const held = holds.reason(election) !== null;
        if (stop.aborted || held) await term.resign();
        if (stop.aborted) throw stop.reason;
        if (held) continue;
        tellEnd(host, contest, startedAt, 'won');
        if (byHand) term.recovered();
        return term;
      }
      if (outcome.kind === 'not_first') {
        tellEnd(host, contest, startedAt, 'aborted');
        return null;
      }
      if (outcome.kind === 'held' || (outcome.kind === 'out' && outcome.why === 'stepped_back')) continue;
      await sleep(host, backoffMs(REJOIN, attempt, host.random), stop);
    }
  } catch (error) {
    tellEnd(host, contest, startedAt, stop.aborted ? 'aborted' : 'failed');
    throw error;
  }
}

function tellEnd(
  host: Host,
  { election, candidateId }: Contest,
  startedAt: number,
  outcome: 'won' | 'aborted' | 'failed',
): void {
  host.emit('campaign_ended', { election, candidateId, outcome, durationMs: host.clock.monotonic() - startedAt });
}

function begin(commons: Commons, contest: Contest, drainTimeoutMs: number, attachment: Attachment, won: Won): Term {
  const { host, terms, chronicle } = commons;
  const node = `${contest.paths.queue}/${won.claimed.self.node}`;
  const term: Term = new Term(
    new Keeper(host, attachment, contest, won, drainTimeoutMs, () => {
      terms.delete(term);
      attachment.lifeline?.left(node);
    }),
  );
  terms.add(term);
  attachment.lifeline?.leads(node);
  chronicle.note(contest.paths, succeeded(won));
  return term;
}
