import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { onExit } from './reaper.js';
import { waitFor } from './wait.js';

/** A lock between processes: a file that names its holder. It is free again once the holder is gone, however it went. */
export interface Lock {
  release(): void;
}

/** Start time of a process in clock ticks since boot, so that a reused pid isn't taken for the old holder. */
function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function isAlive(holder: string): boolean {
  const [pidText = '', started = ''] = holder.trim().split(' ');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return startTime(pid) === started;
}

const me = (): string => `${process.pid} ${startTime(process.pid)}`;

/** Takes the lock if nobody living holds it. */
export function tryLock(path: string): Lock | undefined {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      // Written first and linked then: nobody ever sees the lock without its holder's name.
      writeFileSync(draft, me());
      linkSync(draft, path);
      const forget = onExit(() => rmSync(path, { force: true }));
      return {
        release() {
          forget();
          rmSync(path, { force: true });
        },
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    if (!clearIfStale(path)) return undefined;
  }
  return undefined;
}

/** Moves a dead holder's file away. A rename has one winner, so two that clear at once can't remove a third one's new lock unseen. */
function clearIfStale(path: string): boolean {
  const read = (file: string): string | undefined => {
    try {
      return readFileSync(file, 'latin1');
    } catch {
      return undefined;
    }
  };
  const holder = read(path);
  if (holder === undefined) return true;
  if (isAlive(holder)) return false;
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch {
    return true;
  }
  const moved = read(aside);
  if (moved !== undefined && moved !== holder && isAlive(moved)) {
    renameSync(aside, path); // A living one's after all: give it back.
    return false;
  }
  rmSync(aside, { force: true });
  return true;
}

/** Takes the lock, waiting for a living holder for as long as `timeoutMs`. */
export async function lock(path: string, timeoutMs = 300_000): Promise<Lock> {
  return waitFor(() => tryLock(path), { what: `the lock ${path}`, timeoutMs, intervalMs: 100 });
}
