import type { NodeChange } from '../../election/port.js';
import { setWatchesFrame, type WatchLists } from './requests.js';

export type WatchKind = 'data' | 'exist' | 'children' | 'persistent' | 'recursive';

/** A frame of watches is cut at about this many bytes of paths: a server takes no long one. */
const CHUNK_BYTES = 128 * 1024;

/** The watches that we have left, to be left again on each new connection. All but the persistent ones fire once. */
export class WatchList {
  readonly #paths: Readonly<Record<WatchKind, Set<string>>> = {
    data: new Set(),
    exist: new Set(),
    children: new Set(),
    persistent: new Set(),
    recursive: new Set(),
  };

  left(kind: WatchKind, path: string): void {
    this.#paths[kind].add(path);
  }

  removed(kind: WatchKind, path: string): void {
    this.#paths[kind].delete(path);
  }

  /** Takes out what has fired. @returns whether a watch of ours explains the event */
  fired(path: string, change: NodeChange): boolean {
    const { data, exist, children } = this.#paths;
    let known = this.#stays(path);
    const take = (paths: Set<string>) => {
      if (paths.delete(path)) known = true;
    };
    if (change !== 'children') {
      take(data);
      take(exist);
    }
    if (change === 'children' || change === 'deleted') take(children);
    return known;
  }

  get size(): number {
    return Object.values(this.#paths).reduce((sum, paths) => sum + paths.size, 0);
  }

  /** The frames that leave all of them again. What has changed after `since` is announced. */
  frames(since: bigint): Buffer[] {
    const frames: Buffer[] = [];
    let lists = emptyLists();
    let bytes = 0;
    const flush = () => {
      if (bytes === 0) return;
      frames.push(setWatchesFrame(since, lists));
      lists = emptyLists();
      bytes = 0;
    };
    for (const [kind, paths] of Object.entries(this.#paths) as [WatchKind, Set<string>][]) {
      for (const path of paths) {
        lists[kind].push(path);
        bytes += path.length + 4;
        if (bytes >= CHUNK_BYTES) flush();
      }
    }
    flush();
    return frames;
  }

  #stays(path: string): boolean {
    const { persistent, recursive } = this.#paths;
    if (persistent.has(path)) return true;
    if (recursive.size === 0) return false;
    for (let above = path; ; above = above.slice(0, above.lastIndexOf('/')) || '/') {
      if (recursive.has(above)) return true;
      if (above === '/') return false;
    }
  }
}

function emptyLists(): { [K in keyof WatchLists]: string[] } {
  return { data: [], exist: [], children: [], persistent: [], recursive: [] };
}
