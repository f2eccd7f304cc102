import { type ElectionPaths, sessionsPath } from './names.js';

/**
 * What a candidate must be able to do with the znodes that it finds, as letters of ZooKeeper's permissions, where all of them
 * were made beforehand. The right to create and to delete a znode is one of its parent's; the right to administer is nobody's
 * here. A test has a worker with these rights do all that workers do, and takes each of them away.
 */
export const WORKER_RIGHTS = {
  /** The root and the znodes on the way to an election: only to list elections, not to take part in one. */
  way: 'r',
  /** Joins, leaves, looks who stands before it. Who may delete here may evict. */
  queue: 'cdr',
  term: 'rw',
  history: 'rw',
  /** Each leader makes its own, and reads those of others by their names. They go with their sessions. */
  sessions: 'c',
  /** A candidate's own znode and its session's: made by itself, read by those behind it, never deleted by right of their own. */
  own: 'rw',
} as const;

/** A znode that elections need, and what workers must be able to do with it. */
export interface Needed {
  readonly path: string;
  readonly rights: string;
}

/** All persistent znodes of the root and of these elections, parents first, each once. */
export function neededZnodes(root: string, elections: readonly ElectionPaths[]): Needed[] {
  const found = new Map<string, string>();
  const need = (path: string, rights: string): void => {
    if (!found.has(path)) found.set(path, rights);
  };
  need(root, WORKER_RIGHTS.way);
  need(sessionsPath(root), WORKER_RIGHTS.sessions);
  for (const { election, queue, term, history } of elections) {
    for (const path of wayTo(root, election)) need(path, WORKER_RIGHTS.way);
    need(queue, WORKER_RIGHTS.queue);
    need(term, WORKER_RIGHTS.term);
    need(history, WORKER_RIGHTS.history);
  }
  return [...found].map(([path, rights]) => ({ path, rights }));
}

/** From below the root down to the election itself. */
function wayTo(root: string, election: string): string[] {
  const segments = election.slice(root.length + 1).split('/');
  return segments.map((_, index) => `${root}/${segments.slice(0, index + 1).join('/')}`);
}
