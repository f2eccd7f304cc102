import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Lets go of all memory that nobody holds, weak references to it included. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What a weak reference has shown is held until its turn is over.
  for (let turn = 0; turn < 5; turn++) {
    await sleep(10);
    collect();
  }
}
