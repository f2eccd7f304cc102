import { hostname } from 'node:os';
import { decodeCandidate, isForeign, printable } from '../../election/candidate.js';
import { listElections } from '../../election/catalogue.js';
import { takeCensus } from '../../election/census.js';
import { electionPaths } from '../../election/names.js';
import type { Session } from '../../election/port.js';
import { inOrder } from '../../election/queue.js';
import { decodeRecord } from '../../election/record.js';
import type { CandidateFacts, ElectionFacts } from './facts.js';
import type { Surroundings } from './surroundings.js';

/** Candidates of one election that are read: the leader and those who come next. Those behind block nobody. */
const READ_AT_MOST = 200;

/** Elections that are read at once. */
const AT_ONCE = 16;

/**
 * Reads all elections below the root. `aheadMs`: how far the ensemble's clock, which dates znodes, is ahead of ours.
 *
 * @throws {CoordinatorError} when the session is dead; `signal.reason`
 */
export async function lookAtElections(
  around: Surroundings,
  session: Session,
  aheadMs: number,
  signal: AbortSignal,
): Promise<ElectionFacts[]> {
  const names = await listElections(around.host, session, around.root, signal);
  const found: ElectionFacts[] = [];
  for (let i = 0; i < names.length; i += AT_ONCE) {
    signal.throwIfAborted();
    found.push(
      ...(await Promise.all(names.slice(i, i + AT_ONCE).map((name) => lookAt(session, around.root, name, aheadMs)))),
    );
  }
  return found;
}

async function lookAt(session: Session, root: string, election: string, aheadMs: number): Promise<ElectionFacts> {
  const now = Date.now() + aheadMs;
  const paths = electionPaths(root, election);
  const [children, record, census] = await Promise.all([
    session.children(paths.queue),
    recordOf(session, paths.term, now),
    takeCensus(session, paths.queue, false),
  ]);
  const names = children?.names ?? [];
  const nodes = inOrder(names);
  const candidates = await Promise.all(
    nodes.slice(0, READ_AT_MOST).map((node) => candidateOf(session, paths.queue, node, now)),
  );
  return {
    election,
    candidates: candidates.filter((candidate) => candidate !== null),
    standing: nodes.length,
    headroom: census?.headroom ?? null,
    strangers: names.filter((name) => !nodes.includes(name)),
    record,
  };
}

async function candidateOf(session: Session, queue: string, node: string, now: number): Promise<CandidateFacts | null> {
  const found = await session.read(`${queue}/${node}`);
  if (found === null) return null;
  const data = decodeCandidate(found.data);
  return {
    node,
    id: data?.id ?? printable(found.data),
    owner: found.stat.owner,
    goneHere: data !== null && data.host === hostname() && !runs(data.pid),
    ageMs: now - found.stat.ctime,
    foreign: isForeign(node, data),
  };
}

async function recordOf(session: Session, path: string, now: number): Promise<ElectionFacts['record']> {
  const found = await session.read(path);
  if (found === null) return { kind: 'absent' };
  try {
    const { latest, pause } = decodeRecord(found.data, path);
    return {
      kind: 'read',
      ageMs: now - found.stat.mtime,
      leaderNode: latest === null || latest.ended !== null ? null : latest.node,
      paused: pause,
    };
  } catch (error) {
    return { kind: 'unreadable', message: (error as Error).message };
  }
}

function runs(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid < 1) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process runs, too.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
