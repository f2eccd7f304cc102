import { expect, it } from 'vitest';
import { waitFor } from '../../../deploy/local/index.js';
import { connect } from '../../../src/index.js';
import { sleep } from '../../../src/verify/monotonic.js';
import { site } from '../../support/site.js';

/* Crowds that join on one session: in phases, each step of all before the next of any, so that much can come between two. */

const COUNT = 400;
const everyone = Array.from({ length: COUNT }, (_, index) => index);

const here = site({ fsync: false });

it.each(['wire', 'native'] as const)(
  'who is given up while hundreds join and lose their connection leaves nobody behind, and all others stand and lead (%s)',
  async (driver) => {
    const line = await here.lines.to(here.server);
    const name = (index: number): string => `crowd-${driver}/${index}`;
    const others = await connect({ servers: here.ensemble.connectString, driver: 'wire' });
    const crowd = await connect({ servers: line.address, driver });
    const won = new Set<number>();
    const givenUp = new Set<number>();
    const failures: unknown[] = [];
    for (const index of everyone) {
      // Some are still standing in the end, and end with their connection.
      others
        .election(name(index))
        .campaign()
        .catch(() => undefined);
      const stop = new AbortController();
      crowd
        .election(name(index))
        .campaign({ signal: stop.signal })
        .then(
          () => won.add(index),
          (error: unknown) => givenUp.has(index) || failures.push(error),
        );
      // A third of them, from the first moment on.
      if (index % 3 !== 0) continue;
      setTimeout(() => {
        if (won.has(index)) return;
        givenUp.add(index);
        stop.abort(new Error('given up'));
      }, index * 3);
    }
    for (let drop = 0; drop < 3; drop += 1) {
      await sleep(300);
      await line.drop();
    }
    await sleep(COUNT * 3);
    expect(givenUp.size).toBeGreaterThan(0);
    const standing = async (): Promise<number[]> =>
      Promise.all(everyone.map(async (index) => (await here.operator.children(name(index))).length));
    const wanted = (): number[] => everyone.map((index) => (givenUp.has(index) ? 1 : 2));
    await waitFor(async () => String(await standing()) === String(wanted()), { what: 'all queues to hold who stands' });
    await others.close();
    await waitFor(() => won.size === COUNT - givenUp.size, { what: 'all others to lead' });
    expect(failures).toEqual([]);
    await crowd.close();
    await line.close();
  },
);
