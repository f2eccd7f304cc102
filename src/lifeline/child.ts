import type { Child } from './estate.js';
import { groupLives, groupsMarked, processStat, signalGroup } from './processes.js';

/** Kills what there is of the child, all of its group. @returns whether any of it still runs, be it for a moment */
export function killChild(child: Child): boolean {
  const groups = groupsOf(child);
  for (const group of groups) signalGroup(group, 'SIGKILL');
  return groups.some(groupLives);
}

function groupsOf(child: Child): readonly number[] {
  switch (child.state) {
    case 'none':
      return [];
    case 'starting':
      return groupsMarked(child.mark);
    case 'running': {
      // A group's number isn't given away while anything is left of it; but this may be told late.
      const stat = processStat(child.group);
      const reused = stat !== null && child.startTime !== null && stat.startTime !== child.startTime;
      return reused ? [] : [child.group];
    }
  }
}
