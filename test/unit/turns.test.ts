import { describe, expect, it } from 'vitest';
import { Turns } from '../../src/election/turns.js';

/** Tasks that end when they are told to. */
class Tasks {
  readonly started: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #turns: Turns;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  add(name: string, place?: 'in_turn' | 'last'): Promise<void> {
    return this.#turns.take(() => {
      this.started.push(name);
      return new Promise<void>((resolve) => this.#ends.set(name, resolve));
    }, place);
  }

  async end(...names: string[]): Promise<void> {
    for (const name of names) this.#ends.get(name)?.();
    await new Promise(setImmediate);
  }
}

const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `${from + index}`);

describe('turns', () => {
  it('lets so many run at once, and then the one that came first', async () => {
    const tasks = new Tasks(new Turns(2));
    for (const name of ['a', 'b', 'c', 'd']) void tasks.add(name);
    expect(tasks.started).toEqual(['a', 'b']);
    await tasks.end('b');
    expect(tasks.started).toEqual(['a', 'b', 'c']);
    await tasks.end('a', 'c');
    expect(tasks.started).toEqual(['a', 'b', 'c', 'd']);
  });

  it('goes on after a task that failed, and tells who asked for it', async () => {
    const turns = new Turns(1);
    const failing = turns.take(() => Promise.reject(new Error('refused')));
    const next = turns.take(async () => 'done');
    await expect(failing).rejects.toThrow('refused');
    await expect(next).resolves.toBe('done');
  });

  it('lets those wait who can behind all others, whenever these come', async () => {
    const tasks = new Tasks(new Turns(1));
    for (const name of ['a', 'b']) void tasks.add(name);
    void tasks.add('idle', 'last');
    void tasks.add('c');
    await tasks.end('a');
    void tasks.add('d');
    await tasks.end('b');
    await tasks.end('c');
    expect(tasks.started).toEqual(['a', 'b', 'c', 'd']);
    await tasks.end('d');
    expect(tasks.started).toEqual(['a', 'b', 'c', 'd', 'idle']);
  });

  it('lets one of the last through for so many in turn, so that a stream of those keeps nobody waiting for ever', async () => {
    const tasks = new Tasks(new Turns(1));
    void tasks.add('first');
    for (const name of ['idle', 'idler']) void tasks.add(name, 'last');
    for (const name of names(80)) void tasks.add(name);
    for (let ended = 0; ended < 83; ended += 1) await tasks.end(tasks.started[ended] ?? '');
    expect(tasks.started).toEqual(['first', ...names(32), 'idle', ...names(32, 32), 'idler', ...names(16, 64)]);
  });

  it('lets the next begin together with a pace, once half of a window has ended, and nobody overtake those who wait', async () => {
    const tasks = new Tasks(new Turns({ clock: { monotonic: () => 0 }, least: 4, most: 4, turnMs: 100 }));
    for (const name of names(7)) void tasks.add(name);
    await tasks.end('0');
    void tasks.add('late');
    expect(tasks.started).toEqual(names(4));
    await tasks.end('1');
    expect(tasks.started).toEqual(names(6));
    await tasks.end('2', '3', '4');
    expect(tasks.started).toEqual([...names(7), 'late']);
    void tasks.add('alone');
    expect(tasks.started).toEqual([...names(7), 'late', 'alone']);
  });

  it('lets more through while turns are short, up to a limit, and fewer when they take long, but some always', async () => {
    let now = 0;
    const turns = new Turns({ clock: { monotonic: () => now }, least: 2, most: 5, turnMs: 100 });
    const tasks = new Tasks(turns);
    const running: string[] = [];
    let added = 0;
    const round = async (tookMs: number): Promise<number> => {
      for (const name of names(20, added)) void tasks.add(name);
      added += 20;
      now += tookMs;
      const before = tasks.started.length;
      await tasks.end(...tasks.started.filter((name) => !running.includes(name)));
      running.push(...tasks.started.slice(0, before));
      return tasks.started.length - before;
    };
    // Of those that run two end and let four in, and so on: as many as bring it back from a half to the whole.
    const quick = [await round(0), await round(100), await round(100), await round(100)];
    expect(quick).toEqual([4, 3, 3, 3]);
    const slow = [await round(101), await round(101), await round(101)];
    expect(slow).toEqual([2, 2, 2]);
  });
});
