import type { Observatory } from './observatory.js';

/** Elections of which the observation begins at a time, so that a renewal never waits behind thousands of reads. */
const AT_A_TIME = 25;
const BETWEEN_MS = 20;
/** Kept so long after the last who looked has gone. */
const LINGER_MS = 10_000;
const FIRST_VIEWS_MS = 1_000;

type Listener = (election: string) => void;

/** What there is to look at. */
export interface Scene {
  readonly observatory: Observatory;
  readonly connected: boolean;
  readonly shown: Iterable<string>;
  shows(election: string): boolean;
  /** Calls the listener whenever a candidacy here changes, comes or goes. @returns how to stop that */
  follow(listener: Listener): () => void;
}

/** Observes every election of this sidecar for as long as somebody looks at all of them. */
export class Overview {
  readonly #scene: Scene;
  readonly #listeners = new Set<Listener>();
  readonly #watched = new Map<string, () => void>();
  #stopFollowing: (() => void) | null = null;
  #linger: NodeJS.Timeout | null = null;
  #pump: NodeJS.Timeout | null = null;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Tells of each election that has changed, come or gone. @returns how to stop that */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#begin();
    return () => {
      this.#listeners.delete(listener);
      this.#end();
    };
  }

  /** Waits a little for those that nobody has looked at yet. */
  async look(): Promise<void> {
    this.#begin();
    const until = performance.now() + FIRST_VIEWS_MS;
    const { observatory } = this.#scene;
    const missing = () => [...this.#scene.shown].some((name) => observatory.latest(name) === null);
    while (this.#scene.connected && missing() && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
    }
    this.#end();
  }

  close(): void {
    this.#listeners.clear();
    if (this.#linger !== null) clearTimeout(this.#linger);
    if (this.#pump !== null) clearTimeout(this.#pump);
    this.#stop();
  }

  #begin(): void {
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#linger = null;
    if (this.#stopFollowing !== null) return;
    this.#stopFollowing = this.#scene.follow((name) => {
      if (this.#scene.shows(name)) this.#watchMore();
      else this.#unwatch(name);
      this.#tell(name);
    });
    this.#watchMore();
  }

  #end(): void {
    if (this.#listeners.size > 0) return;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#linger = setTimeout(() => this.#stop(), LINGER_MS).unref();
  }

  #stop(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = null;
    for (const cancel of this.#watched.values()) cancel();
    this.#watched.clear();
  }

  #watchMore(): void {
    if (this.#pump !== null || this.#stopFollowing === null) return;
    let begun = 0;
    for (const name of this.#scene.shown) {
      if (this.#watched.has(name)) continue;
      if (begun === AT_A_TIME) {
        this.#pump = setTimeout(() => {
          this.#pump = null;
          this.#watchMore();
        }, BETWEEN_MS).unref();
        return;
      }
      begun += 1;
      this.#watched.set(
        name,
        this.#scene.observatory.watch(name, () => this.#tell(name)),
      );
    }
  }

  #unwatch(name: string): void {
    this.#watched.get(name)?.();
    this.#watched.delete(name);
  }

  #tell(name: string): void {
    for (const listener of [...this.#listeners]) listener(name);
  }
}
