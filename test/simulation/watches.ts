import type { NodeChange } from '../../src/election/port.js';

/**
 * One server's watches, one-shot, by kind: `data` (left by a read, or by a stat, of a node there or
 * not) and `child`. The same watcher twice on a path counts once, as on a ZooKeeper server.
 */
export class WatchTable<W> {
  readonly #data = new Map<string, Set<W>>();
  readonly #child = new Map<string, Set<W>>();

  watchData(path: string, watcher: W): void {
    add(this.#data, path, watcher);
  }

  watchChildren(path: string, watcher: W): void {
    add(this.#child, path, watcher);
  }

  /** Takes the watchers of a change out of the table. A deletion is told once to who watched both ways. */
  take(path: string, change: NodeChange): Set<W> {
    if (change === 'children') return drain(this.#child, path);
    const watchers = drain(this.#data, path);
    if (change === 'deleted') for (const watcher of drain(this.#child, path)) watchers.add(watcher);
    return watchers;
  }

  /** Forgets a watcher whose connection is gone. */
  drop(watcher: W): void {
    for (const table of [this.#data, this.#child]) {
      for (const [path, watchers] of table) if (watchers.delete(watcher) && watchers.size === 0) table.delete(path);
    }
  }

  clear(): void {
    this.#data.clear();
    this.#child.clear();
  }
}

function add<W>(table: Map<string, Set<W>>, path: string, watcher: W): void {
  const watchers = table.get(path);
  if (watchers === undefined) table.set(path, new Set([watcher]));
  else watchers.add(watcher);
}

function drain<W>(table: Map<string, Set<W>>, path: string): Set<W> {
  const watchers = table.get(path);
  table.delete(path);
  return watchers ?? new Set();
}
