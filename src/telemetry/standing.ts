import type { Census } from '../election/census.js';
import { sequenceHeadroom, sequenceOf } from '../election/queue.js';

/** How old a census may be when it is shown. */
const CENSUS_AGE_MS = 5_000;

/** Who asks the coordinator for the queue, and `who` leads it. */
export interface Counted {
  census(who: boolean): Promise<Census | null>;
}

interface Place {
  readonly candidate: string;
  ahead: number;
  paused: boolean;
  /** The candidate right before it is of another library. */
  behindForeign: boolean;
}

/** What one connection knows of one election, as its events told. */
export class Standing {
  /** 0 until known. */
  term = 0;
  /** Null until seen. */
  headroom: number | null = null;
  /** Terms whose recover stage goes on. Lists, as there is one entry at most but rarely, and thousands of elections. */
  #recovering: readonly number[] = [];
  /** Those of our candidates that are in the queue: how many stand before each, and what it sees. */
  #places: readonly Place[] = [];
  /** As last seen; good while a candidate of ours is the first or the second. */
  #candidates = 0;
  #foreignLeader = false;
  #counted: Counted | null = null;
  #censusAt = Number.NEGATIVE_INFINITY;

  /** How to ask the coordinator; the newest election object of that name knows the queue. */
  use(election: Counted): void {
    this.#counted = election;
  }

  joined(candidate: string, node: string, ahead: number): void {
    // Whoever stands behind others watches no record: nothing is known of a pause until one is read.
    this.left(candidate);
    this.#places = [...this.#places, { candidate, ahead, paused: false, behindForeign: false }];
    this.#candidates = Math.max(this.#candidates, ahead + 1);
    const sequence = sequenceOf(node);
    if (sequence !== null) this.headroom = sequenceHeadroom(sequence + 1);
  }

  moved(candidate: string, ahead: number): void {
    const place = this.#of(candidate);
    if (place === undefined) return;
    place.ahead = ahead;
    if (ahead === 0) place.behindForeign = false;
  }

  sawPredecessor(candidate: string, foreign: boolean): void {
    const place = this.#of(candidate);
    if (place !== undefined) place.behindForeign = foreign;
  }

  left(candidate: string): void {
    if (this.#of(candidate) !== undefined) this.#places = this.#places.filter((place) => place.candidate !== candidate);
  }

  /** The session is over, and with it every place. */
  leftAll(): void {
    this.#places = [];
  }

  sawPause(candidate: string, paused: boolean): void {
    const place = this.#of(candidate);
    if (place !== undefined) place.paused = paused;
  }

  /** As those of our candidates say that watch the record. */
  get paused(): boolean {
    for (const place of this.#places) if (place.paused) return true;
    return false;
  }

  recovers(term: number): void {
    this.#recovering = [...this.#recovering, term];
  }

  recovered(term: number): void {
    this.#recovering = this.#recovering.filter((other) => other !== term);
  }

  get recovering(): boolean {
    return this.#recovering.length > 0;
  }

  #of(candidate: string): Place | undefined {
    return this.#places.find((place) => place.candidate === candidate);
  }

  sawTerm(term: number): void {
    this.term = Math.max(this.term, term);
  }

  /** 1 is first; 0 is not in the queue. */
  get position(): number {
    let position = 0;
    for (const { ahead } of this.#places) position = position === 0 ? ahead + 1 : Math.min(position, ahead + 1);
    return position;
  }

  /** 0 unless one of ours is the first or the second: then the census is kept fresh. */
  get candidates(): number {
    return this.#counts ? this.#candidates : 0;
  }

  /** A candidate of another library leads, as one of ours right behind such a one sees; the census is kept fresh then too. */
  get foreignLeader(): boolean {
    return this.#behindForeign && this.#foreignLeader;
  }

  get #behindForeign(): boolean {
    for (const place of this.#places) if (place.behindForeign) return true;
    return false;
  }

  get #counts(): boolean {
    return this.position === 1 || this.position === 2;
  }

  /** How long ago it was counted, where what would be shown is old; null where there is nothing to count. */
  censusDue(now: number): number | null {
    const age = now - this.#censusAt;
    const counts = this.#counts || this.#behindForeign;
    return this.#counted === null || !counts || age < CENSUS_AGE_MS ? null : age;
  }

  /** Counts again. Never rejects. */
  async count(now: number): Promise<void> {
    this.#censusAt = now;
    try {
      const census = await this.#counted?.census(this.#behindForeign);
      if (census == null) return;
      this.#foreignLeader = census.foreignLeader ?? false;
      this.#candidates = census.candidates;
      this.headroom = census.headroom;
    } catch {
      // No server answers now: the last count stands, and is taken again in a while.
    }
  }
}
