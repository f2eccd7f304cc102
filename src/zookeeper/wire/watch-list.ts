import type { NodeChange } from '../../election/port.js';
import { setWatchesFrame, type WatchLists } from './requests.js';

export type WatchKind = keyof WatchLists;

/** One bit for each kind. */
const BIT: Readonly<Record<WatchKind, number>> = { data: 1, exist: 2, children: 4, persistent: 8, recursive: 16 };

const KINDS = Object.keys(BIT) as WatchKind[];

/** What a change fires, and so takes out. */
const FIRED: Readonly<Record<NodeChange, number>> = {
  created: BIT.data | BIT.exist,
  changed: BIT.data | BIT.exist,
  children: BIT.children,
  deleted: BIT.data | BIT.exist | BIT.children,
};

/** A frame of watches is cut at about this many bytes of paths: a server takes no long one. */
const CHUNK_BYTES = 128 * 1024;

/** The watches that we have left, to be left again on each new connection. All but the persistent ones fire once. */
export class WatchList {
  /** The kinds for each path: never none. */
  readonly #kinds = new Map<string, number>();
  #recursive = 0;

  left(kind: WatchKind, path: string): void {
    const before = this.#kinds.get(path) ?? 0;
    if (kind === 'recursive' && (before & BIT.recursive) === 0) this.#recursive += 1;
    this.#kinds.set(path, before | BIT[kind]);
  }

  /** All that were left on a path. */
  removed(path: string): void {
    if (((this.#kinds.get(path) ?? 0) & BIT.recursive) !== 0) this.#recursive -= 1;
    this.#kinds.delete(path);
  }

  /** Takes out what has fired. @returns whether a watch of ours explains the event */
  fired(path: string, change: NodeChange): boolean {
    const before = this.#kinds.get(path) ?? 0;
    const after = before & ~FIRED[change];
    if (after !== before) {
      if (after === 0) this.#kinds.delete(path);
      else this.#kinds.set(path, after);
      return true;
    }
    return (before & BIT.persistent) !== 0 || this.#below(path);
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
    for (const [path, kinds] of this.#kinds) {
      for (const kind of KINDS) {
        if ((kinds & BIT[kind]) === 0) continue;
        lists[kind].push(path);
        bytes += path.length + 4;
      }
      if (bytes >= CHUNK_BYTES) flush();
    }
    flush();
    return frames;
  }

  /** Whether a recursive watch is on the path or above it. */
  #below(path: string): boolean {
    if (this.#recursive === 0) return false;
    for (let above = path; ; above = above.slice(0, above.lastIndexOf('/')) || '/') {
      if (((this.#kinds.get(above) ?? 0) & BIT.recursive) !== 0) return true;
      if (above === '/') return false;
    }
  }
}

function emptyLists(): { [K in WatchKind]: string[] } {
  return { data: [], exist: [], children: [], persistent: [], recursive: [] };
}
