import { afterEach, describe, expect, it, vi } from 'vitest';
import { Observatory } from '../../../src/agent/observatory.js';
import { silentLogger } from '../../../src/election/host.js';
import { Turns } from '../../../src/election/turns.js';
import type { Election, ElectionView } from '../../../src/index.js';

const AT_ONCE = 3;

/** Elections that are read when the test says so. */
function scene() {
  const reading: (() => void)[] = [];
  const election = (name: string) =>
    ({
      current: () =>
        new Promise<ElectionView>((resolve) => {
          reading.push(() => resolve({ election: name, ageMs: 0 } as ElectionView));
        }),
    }) as unknown as Election;
  const observatory = new Observatory(election, new Turns(AT_ONCE), silentLogger);
  return { reading, observatory };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('views that are read on request', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('are read a few at a time, whatever the number of those who ask, and one read serves all who ask for the same', async () => {
    const { reading, observatory } = scene();
    const names = Array.from({ length: 20 }, (_, index) => `e${index}`);
    const asked = [...names, ...names].map((name) => observatory.read(name));
    let reads = 0;
    for (await settled(); reading.length > 0; await settled()) {
      expect(reading.length).toBeLessThanOrEqual(AT_ONCE);
      for (const answered of reading.splice(0)) {
        reads += 1;
        answered();
      }
    }
    expect(reads).toBe(names.length);
    expect((await Promise.all(asked)).map(({ election }) => election)).toEqual([...names, ...names]);
  });

  it('are refused to those whose turn does not come in time', async () => {
    const timeout = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal);
    const { observatory } = scene();
    const asked = Array.from({ length: 5 }, (_, index) => observatory.read(`e${index}`));
    timeout.abort();
    for (const refused of await Promise.allSettled(asked)) {
      expect(refused).toMatchObject({ status: 'rejected', reason: { status: 503, code: 'zookeeper_away' } });
    }
  });
});
