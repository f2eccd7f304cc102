import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} isn't set: a scene runs in a place`);
  return value;
}

/** The ensemble, with a chroot of this scene's own. */
export const servers = given('ZK_SERVERS');
/** A folder of its own. */
export const folder = given('PLACE');

let shared: pg.Pool | undefined;

/** A pool on a database of its own. */
export function database(): pg.Pool {
  shared ??= new pg.Pool();
  return shared;
}

/** Asks until the answer is something. */
export async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    await sleep(50);
  }
}
