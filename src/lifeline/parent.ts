import { isDead, processStat } from './processes.js';

/** Names a process for good: pids are used again. */
export interface Identification {
  readonly pid: number;
  /** Null where there is no /proc. */
  readonly startTime: string | null;
}

export function identify(pid: number): Identification {
  return { pid, startTime: processStat(pid)?.startTime ?? null };
}

/**
 * Whether our parent is really dead. Two witnesses must agree, where there are two: the kernel has given us to another
 * parent, and /proc knows no living process by that pid and start time. A frozen or busy parent, one under a
 * debugger, and one that has closed its end of the pipe are alive to both.
 */
export function parentIsDead(parent: Identification, presentParent: number = process.ppid): boolean {
  if (presentParent === parent.pid) return false;
  const stat = processStat(parent.pid);
  return stat === null || stat.startTime !== parent.startTime || isDead(stat);
}
