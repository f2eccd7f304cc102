import type { NodeChange } from '../../src/election/port.js';
import type { Answer, Operation, Watched } from './messages.js';

/** The client's own list of its watches, to set them again after a reconnect. */
export class ClientWatches {
  readonly #data = new Set<string>();
  readonly #exists = new Set<string>();
  readonly #child = new Set<string>();

  get empty(): boolean {
    return this.#data.size + this.#exists.size + this.#child.size === 0;
  }

  list(): Watched {
    return { data: [...this.#data], exists: [...this.#exists], child: [...this.#child] };
  }

  /** The reply has come: now the watch is ours. One whose reply was lost never is. */
  left(operation: Operation, answer: Answer): void {
    if (!('watch' in operation) || !operation.watch || !answer.ok) return;
    if ('node' in answer) {
      if (answer.node !== null) this.#data.add(operation.path);
    } else if ('names' in answer) {
      if (answer.names !== null) this.#child.add(operation.path);
    } else if (answer.stat !== null) this.#data.add(operation.path);
    else this.#exists.add(operation.path);
  }

  fired(path: string, change: NodeChange): void {
    if (change !== 'children') {
      this.#data.delete(path);
      this.#exists.delete(path);
    }
    if (change === 'children' || change === 'deleted') this.#child.delete(path);
  }

  clear(): void {
    for (const paths of [this.#data, this.#exists, this.#child]) paths.clear();
  }
}
