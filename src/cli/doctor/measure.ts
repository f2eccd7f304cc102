import { isKind } from '../../election/nodes.js';
import type { Session } from '../../election/port.js';
import type { Skew } from './facts.js';

/** Milliseconds that each of `count` calls took, one after the other. */
export async function times(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const from = performance.now();
    await call();
    found.push(performance.now() - from);
  }
  return found;
}

/** The deepest znode on the way to `path` that exists; `/` always does. */
export async function deepest(session: Session, path: string): Promise<string> {
  for (let at = path; at !== '' && at !== '/'; at = at.slice(0, at.lastIndexOf('/'))) {
    if (await exists(session, at)) return at;
  }
  return '/';
}

/** Newer servers keep even that from those who may not read the znode, which tells that there is one. */
async function exists(session: Session, path: string): Promise<boolean> {
  try {
    return (await session.stat(path)) !== null;
  } catch (error) {
    if (isKind(error, 'no_auth')) return true;
    throw error;
  }
}

export interface Writing {
  readonly writesMs: readonly number[];
  readonly skew: Skew | null;
}

/**
 * Writes an ephemeral znode of its own below `parent`, and deletes it. Each write is dated by the ensemble's leader, which
 * tells how its clock differs from ours: to within half of the round trip, so the quickest counts.
 */
export async function writes(session: Session, parent: string, uuid: string, count: number): Promise<Writing> {
  const data = new TextEncoder().encode('{"v":1}');
  const path = await session.create(`${parent === '/' ? '' : parent}/${uuid}`, data, 'ephemeral');
  let skew: Skew | null = null;
  const writesMs: number[] = [];
  try {
    for (let i = 0; i < count; i += 1) {
      const [wall, from] = [Date.now(), performance.now()];
      const { mtime } = await session.write(path, data, -1);
      const tripMs = performance.now() - from;
      writesMs.push(tripMs);
      const errorMs = tripMs / 2 + 1;
      if (skew === null || errorMs < skew.errorMs) skew = { aheadMs: mtime - (wall + tripMs / 2), errorMs };
    }
  } finally {
    await session.remove(path).catch((error: unknown) => {
      // It goes with the session anyhow.
      if (!isKind(error, 'no_node', 'no_auth', 'connection_lost')) throw error;
    });
  }
  return { writesMs, skew };
}
