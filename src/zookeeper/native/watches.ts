import type { NodeChange } from '../../election/port.js';

/** The one-shot watches that are left at the ensemble, by path: on a node's data and existence, and on its children. */
export class Watches {
  readonly #data = new Set<string>();
  readonly #children = new Set<string>();

  left(path: string, on: 'changed' | 'children'): void {
    (on === 'changed' ? this.#data : this.#children).add(path);
  }

  fired(path: string, change: NodeChange): void {
    if (change !== 'children') this.#data.delete(path);
    if (change === 'children' || change === 'deleted') this.#children.delete(path);
  }

  /** Forgets all, and says for each path what its watch might have announced. */
  clear(): [path: string, change: NodeChange][] {
    const all: [string, NodeChange][] = [];
    for (const path of this.#data) all.push([path, 'changed']);
    for (const path of this.#children) all.push([path, 'children']);
    this.#data.clear();
    this.#children.clear();
    return all;
  }
}
