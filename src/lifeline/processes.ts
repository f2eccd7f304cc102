import { readdirSync, readFileSync } from 'node:fs';

/** A process as Linux's /proc tells of it. */
export interface ProcessStat {
  readonly pid: number;
  /** One letter: `Z` and `X` are dead. */
  readonly state: string;
  readonly group: number;
  readonly threads: number;
  /** In ticks since the machine's boot: with the pid it names a process for good, as pids are used again. */
  readonly startTime: string;
}

/** Null where there is no such process, or no /proc. */
export function processStat(pid: number): ProcessStat | null {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null;
  }
}

/** The second field is the command's name in parentheses, and may hold anything: what counts comes behind the last one. */
export function parseStat(pid: number, text: string): ProcessStat | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, , group] = fields;
  const threads = fields[17];
  const startTime = fields[19];
  if (state === undefined || group === undefined || threads === undefined || startTime === undefined) return null;
  return { pid, state, group: Number(group), threads: Number(threads), startTime };
}

/** Dead, or so far gone that nothing of it runs any more. A first thread that has ended alone is `Z` too, and is no death. */
export function isDead(stat: ProcessStat | null): boolean {
  return stat === null || ((stat.state === 'Z' || stat.state === 'X') && stat.threads <= 1);
}

/** Sends a signal to a process group. @returns whether there was anybody to get it */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // Not permitted: all that is left of it has changed its user. It is there all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Whether anything in the group still runs. Zombies don't: where nobody reaps them, as in a container without an init,
 * they stay for ever.
 */
export function groupLives(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  const pids = everyPid();
  if (pids === null) return true;
  return pids.some((pid) => {
    const stat = processStat(pid);
    return stat?.group === group && !isDead(stat);
  });
}

/** The groups of all processes that have this setting in the environment with which they were started. Linux only. */
export function groupsMarked(setting: string): number[] {
  const groups = new Set<number>();
  for (const pid of everyPid() ?? []) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(setting)) continue;
    } catch {
      // Gone meanwhile, or another user's: no child of ours.
      continue;
    }
    const stat = processStat(pid);
    if (stat !== null && !isDead(stat)) groups.add(stat.group);
  }
  return [...groups];
}

function everyPid(): number[] | null {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return null;
  }
}
