import type { Census } from '../election/census.js';
import { sequenceHeadroom, sequenceOf } from '../election/queue.js';

/** How old a census may be when it is shown. */
const CENSUS_AGE_MS = 5_000;

/** What one connection knows of one election, as its events told. */
export class Standing {
  /** 0 until known. */
  term = 0;
  /** Null until seen. */
  headroom: number | null = null;
  /** Terms whose recover stage goes on. */
  readonly recovering = new Set<number>();
  /** Those of our candidates that are in the queue: how many stand before each, and what it sees. */
  readonly #places = new Map<string, { ahead: number; paused: boolean }>();
  /** As last seen; good while a candidate of ours is the first or the second. */
  #candidates = 0;
  #takeCensus: (() => Promise<Census | null>) | null = null;
  #censusAt = Number.NEGATIVE_INFINITY;

  /** How to ask the coordinator; the newest election object of that name knows the queue. */
  useCensus(take: () => Promise<Census | null>): void {
    this.#takeCensus = take;
  }

  joined(candidate: string, node: string, ahead: number): void {
    // Whoever stands behind others watches no record: nothing is known of a pause until one is read.
    this.#places.set(candidate, { ahead, paused: false });
    this.#candidates = Math.max(this.#candidates, ahead + 1);
    const sequence = sequenceOf(node);
    if (sequence !== null) this.headroom = sequenceHeadroom(sequence + 1);
  }

  moved(candidate: string, ahead: number): void {
    const place = this.#places.get(candidate);
    if (place !== undefined) place.ahead = ahead;
  }

  left(candidate: string): void {
    this.#places.delete(candidate);
  }

  /** The session is over, and with it every place. */
  leftAll(): void {
    this.#places.clear();
  }

  sawPause(candidate: string, paused: boolean): void {
    const place = this.#places.get(candidate);
    if (place !== undefined) place.paused = paused;
  }

  /** As those of our candidates say that watch the record. */
  get paused(): boolean {
    for (const place of this.#places.values()) if (place.paused) return true;
    return false;
  }

  sawTerm(term: number): void {
    this.term = Math.max(this.term, term);
  }

  /** 1 is first; 0 is not in the queue. */
  get position(): number {
    let position = 0;
    for (const { ahead } of this.#places.values())
      position = position === 0 ? ahead + 1 : Math.min(position, ahead + 1);
    return position;
  }

  /** 0 unless one of ours is the first or the second: then the census is kept fresh. */
  get candidates(): number {
    return this.#counts ? this.#candidates : 0;
  }

  get #counts(): boolean {
    return this.position === 1 || this.position === 2;
  }

  /** How long ago it was counted, where what would be shown is old; null where there is nothing to count. */
  censusDue(now: number): number | null {
    const age = now - this.#censusAt;
    return this.#takeCensus === null || !this.#counts || age < CENSUS_AGE_MS ? null : age;
  }

  /** Counts again. Never rejects. */
  async count(now: number): Promise<void> {
    this.#censusAt = now;
    try {
      const census = await this.#takeCensus?.();
      if (census == null) return;
      this.#candidates = census.candidates;
      this.headroom = census.headroom;
    } catch {
      // No server answers now: the last count stands, and is taken again in a while.
    }
  }
}
