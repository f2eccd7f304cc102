import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileHold, fileGuard } from '../fencing/file.js';
import type { FencedTerm, FencingObserver, Guard } from '../fencing/index.js';
import type { Batch, Write } from './history.js';
import type { Ledger } from './ledger.js';

const RESOURCE = 'ledger';

/** A list is kept in parts, each rewritten as a whole with each entry: they stay short, however long a run is. */
const ENTRIES_A_PART = 200;

/** A batch's name ends in a number; so many share a part. */
const BATCHES_A_PART = 60;

interface Entry {
  readonly key: string;
  readonly who: string;
  readonly token: string;
}

/**
 * In files of one directory, behind the file guard. It reads and rewrites under the guard's hold, with no other lock: a writer that is let
 * through after a newer one overwrites what it doesn't know of.
 */
export class FileLedger implements Ledger {
  readonly #directory: string;
  readonly #guard: Pick<Guard<FileHold>, 'hold'>;

  /** @param guard another one than the file guard, to see what becomes of it */
  constructor(directory: string, observer?: FencingObserver, guard?: Pick<Guard<FileHold>, 'hold'>) {
    this.#directory = directory;
    this.#guard = guard ?? fileGuard({ directory, ...(observer && { observer }) });
  }

  async write(term: FencedTerm, who: string, key: string): Promise<void> {
    await this.#guard.hold(term, RESOURCE, async (hold) => {
      const parts = await this.#parts('writes');
      const last = parts.at(-1);
      const entries = last === undefined ? [] : await this.#read('writes', last);
      const full = last === undefined || entries.length >= ENTRIES_A_PART;
      const part = full ? partName(parts.length) : last;
      await publish(hold, 'writes', part, [...(full ? [] : entries), { key, who, token: `${term.token}` }]);
    });
  }

  async batch(term: FencedTerm, key: string, who: string): Promise<boolean> {
    const part = partName(Math.floor(Number(/\d+$/.exec(key)?.[0] ?? 0) / BATCHES_A_PART));
    return await this.#guard.hold(term, RESOURCE, async (hold) => {
      const parts = await this.#parts('batches');
      const entries = parts.includes(part) ? await this.#read('batches', part) : [];
      if (entries.some((entry) => entry.key === key)) return false;
      await publish(hold, 'batches', part, [...entries, { key, who, token: `${term.token}` }]);
      return true;
    });
  }

  async close(): Promise<void> {}

  /** In the order in which they were accepted. */
  async writes(): Promise<Write[]> {
    return (await this.#all('writes')).map((entry, order) => ({ order, ...entry }));
  }

  /** @param done how often a worker has said that it has done each: one whose effect was overwritten counts, too */
  async batches(done: ReadonlyMap<string, number>): Promise<Batch[]> {
    const kept = new Map<string, number>();
    for (const { key } of await this.#all('batches')) kept.set(key, (kept.get(key) ?? 0) + 1);
    return [...kept].map(([key, times]) => ({ key, times: Math.max(times, done.get(key) ?? 0) }));
  }

  async #all(list: string): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (const part of await this.#parts(list)) entries.push(...(await this.#read(list, part)));
    return entries;
  }

  async #parts(list: string): Promise<string[]> {
    try {
      return (await readdir(join(this.#directory, list))).sort();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  async #read(list: string, part: string): Promise<Entry[]> {
    return JSON.parse(await readFile(join(this.#directory, list, part), 'utf8')) as Entry[];
  }
}

function publish(hold: FileHold, list: string, part: string, entries: readonly Entry[]): Promise<void> {
  return hold.publish(`${list}/${part}`, JSON.stringify(entries));
}

function partName(number: number): string {
  return `${String(number).padStart(9, '0')}.json`;
}
