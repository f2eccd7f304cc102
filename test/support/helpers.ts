import { readdirSync, readFileSync } from 'node:fs';

/** The pids of the lifeline's helpers that a process has started, by their command lines. */
export function helpersOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        const words = readFileSync(`/proc/${candidate}/cmdline`, 'utf8').split('\0');
        const at = words.findIndex((word) => /\/lifeline\/helper\.[jt]s$/.test(word));
        return at !== -1 && words[at + 1] === String(pid);
      } catch {
        return false;
      }
    });
}
