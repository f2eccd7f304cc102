import { SEQUENCE_RESERVE } from '../../election/queue.js';
import { showDuration } from '../duration.js';
import { visible } from '../text.js';
import type { CandidateFacts, ElectionFacts, Facts, LiveSessions } from './facts.js';
import { type Finding, finding, ok } from './finding.js';

/** Far before candidates are refused: there is time to choose the day. */
const HEADROOM_WARNING = 100 * SEQUENCE_RESERVE;

/** An election in which nobody has stood for so long is probably forgotten. */
const DEAD_AFTER_MS = 30 * 86_400_000;

/** From vacancy to claim it takes a moment, and after a death about a session timeout. */
const LEADERLESS_MS = 120_000;

/** A session that was opened and ended between two looks is no orphan's. */
const JUST_JOINED_MS = 10_000;

/** Findings of one kind beyond these are counted, not listed. */
const SHOWN = 20;

export function judgeElections({ elections, liveSessions }: Facts): Finding[] {
  if (elections.length === 0) return [];
  const groups = [
    elections.flatMap(headroom),
    elections.flatMap(records),
    elections.flatMap((election) => orphans(election, liveSessions)),
    elections.flatMap(dead),
    elections.flatMap(leaders),
  ];
  const found = groups.flatMap(cut);
  if (found.length > 0) return found;
  const standing = elections.reduce((sum, election) => sum + election.standing, 0);
  const text = `nothing is left over, and all with candidates are led (${elections.length} in all, with ${standing} candidates)`;
  return [ok('leaders', text)];
}

function cut(findings: Finding[]): Finding[] {
  const more = findings.length - SHOWN;
  const last = findings[SHOWN];
  if (more <= 0 || last === undefined) return findings;
  return [...findings.slice(0, SHOWN), { ...last, message: `… and ${more} more of this kind` }];
}

const named = ({ election }: ElectionFacts): string => JSON.stringify(visible(election));

function headroom(election: ElectionFacts): Finding[] {
  const left = election.headroom;
  if (left === null || left > HEADROOM_WARNING) return [];
  const message = `${named(election)} can number ${left} more candidates`;
  const fix = `stop its candidates, delete its empty queue in zkCli.sh, start them again; below ${SEQUENCE_RESERVE} candidates are refused`;
  return [finding('headroom', left < SEQUENCE_RESERVE ? 'error' : 'warning', message, fix)];
}

function records(election: ElectionFacts): Finding[] {
  if (election.record.kind !== 'unreadable') return [];
  const fix =
    'upgrade this tool if a newer release wrote it; else stop all candidates and repair the record: nobody claims over it';
  return [finding('records', 'error', `${named(election)}: ${visible(election.record.message)}`, fix)];
}

function orphans(election: ElectionFacts, live: LiveSessions): Finding[] {
  const found: Finding[] = [];
  for (const candidate of election.candidates) {
    const who = `${named(election)}: candidate ${JSON.stringify(visible(candidate.id))} (${visible(candidate.node)})`;
    const evict = `tenure evict ${election.election} ${candidate.node}`;
    if (candidate.owner === null) {
      // It stands for ever: no session ends that would take it along.
      found.push(
        finding(
          'orphans',
          'error',
          `${who} is no ephemeral znode: it never goes by itself, and blocks all behind it`,
          evict,
        ),
      );
    } else if (live !== null && !live.has(candidate.owner) && candidate.ageMs > JUST_JOINED_MS) {
      found.push(
        finding(
          'orphans',
          'error',
          `${who} belongs to session ${candidate.owner}, which the ensemble doesn't know any more`,
          evict,
        ),
      );
    } else if (candidate.goneHere) {
      const fix = 'it goes when its session expires; a process in a container of this machine may run all the same';
      found.push(
        finding('orphans', 'notice', `${who} says that it runs on this machine, where no such process is`, fix),
      );
    }
  }
  for (const stranger of election.strangers) {
    const fix = 'delete it in zkCli.sh when you know that nobody needs it';
    found.push(
      finding(
        'orphans',
        'notice',
        `${named(election)}: ${visible(stranger)} lies in the queue and is no candidate`,
        fix,
      ),
    );
  }
  return found;
}

function dead(election: ElectionFacts): Finding[] {
  const { record, standing } = election;
  if (standing > 0 || record.kind !== 'read' || record.ageMs < DEAD_AFTER_MS) return [];
  const message = `nobody stands in ${named(election)}, and nothing has happened there for ${showDuration(record.ageMs)}`;
  return [finding('dead_elections', 'notice', message, `tenure rm ${election.election}, if nobody uses it any more`)];
}

function leaders(election: ElectionFacts): Finding[] {
  const { record, candidates } = election;
  const first: CandidateFacts | undefined = candidates[0];
  if (record.kind === 'read' && record.paused !== null) {
    const { by, at, reason } = record.paused;
    const message = `${named(election)} is paused by ${visible(by)} since ${visible(at)}: ${visible(reason)}`;
    return [finding('leaders', 'notice', message, `tenure resume ${election.election}, when the reason is gone`)];
  }
  // A foreign candidate claims no term: it leads as soon as it is first.
  if (first === undefined || record.kind === 'unreadable' || first.foreign) return [];
  const leads = record.kind === 'read' && record.leaderNode === first.node;
  const since = record.kind === 'read' ? Math.min(first.ageMs, record.ageMs) : first.ageMs;
  if (leads || since < LEADERLESS_MS) return [];
  const message = `nobody leads ${named(election)}, although ${JSON.stringify(visible(first.id))} has been first for long`;
  const fix =
    'look at the log of that candidate: it may hang, or its token may have regressed; tenure evict removes it';
  return [finding('leaders', 'error', message, fix)];
}
