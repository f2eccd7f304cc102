import { type Ensemble, waitFor } from '../../deploy/local/index.js';
import { decodeCandidate } from '../../src/election/candidate.js';
import { Operator, type Standing } from '../support/operator.js';
import { Candidate, type Place } from './candidate.js';
import { type Leadership, LeadershipBook } from './leaderships.js';
import type { Programs, Recipe } from './programs.js';

export interface MixedQueueOptions {
  readonly ensemble: Ensemble;
  readonly programs: Programs;
  readonly name: string;
  /** `/tenure` (the default) is where Tenure's own queues lie. */
  readonly root?: string;
  readonly sessionTimeoutMs: number;
}

/** Who stands in the queue, as the ensemble says. */
export interface Member extends Standing {
  readonly id: string;
}

/** One queue with candidates of several libraries, each a process, and somebody who looks at the ensemble. */
export class MixedQueue implements AsyncDisposable {
  readonly book = new LeadershipBook();
  readonly operator: Operator;
  readonly name: string;
  readonly place: Place;
  readonly #candidates = new Map<string, Candidate>();
  #started = 0;

  private constructor(operator: Operator, options: MixedQueueOptions) {
    const { ensemble, programs, name, sessionTimeoutMs } = options;
    this.operator = operator;
    this.name = name;
    const servers = ensemble.connectString;
    this.place = { servers, path: operator.queuePath(name), sessionTimeoutMs, programs, book: this.book };
  }

  static async open(options: MixedQueueOptions): Promise<MixedQueue> {
    const { root = '/tenure', ensemble } = options;
    return new MixedQueue(await Operator.at(ensemble.connectString, { root }), options);
  }

  /** Starts a candidate, which doesn't join yet. */
  async start(recipe: Recipe): Promise<Candidate> {
    this.#started += 1;
    const id = [...(recipe.match(/[a-z]+/g) ?? []), this.#started].join('-');
    const candidate = await Candidate.start(recipe, id, this.place);
    this.#candidates.set(id, candidate);
    return candidate;
  }

  /** Has it join, and waits until it stands in the queue. */
  async join(candidate: Candidate): Promise<Member> {
    const behind = (await this.members()).at(-1)?.czxid ?? 0n;
    candidate.join();
    return waitFor(async () => (await this.members()).find(({ id, czxid }) => id === candidate.id && czxid > behind), {
      what: `${candidate.id} to stand in the queue`,
      intervalMs: 10,
    });
  }

  async enter(recipe: Recipe): Promise<Candidate> {
    const candidate = await this.start(recipe);
    await this.join(candidate);
    return candidate;
  }

  candidate(id: string): Candidate {
    const found = this.#candidates.get(id);
    if (found === undefined) throw new Error(`${id} is none of ours`);
    return found;
  }

  /** In order. */
  async members(): Promise<Member[]> {
    const standings = await this.operator.queue(this.name);
    const members = await Promise.all(
      standings.map(async (standing) => {
        const found = await this.operator.session.read(`${this.place.path}/${standing.node}`);
        if (found === null) return null;
        const id = decodeCandidate(found.data)?.id ?? Buffer.from(found.data).toString();
        return { ...standing, id };
      }),
    );
    return members.filter((member) => member !== null);
  }

  /** Those in the queue whose processes live, in order, once there are so many: a replacement may be on its way. */
  async alive(atLeast: number): Promise<Member[]> {
    return waitFor(
      async () => {
        const alive = (await this.members()).filter(({ id }) => this.#candidates.has(id));
        return alive.length >= atLeast && alive;
      },
      { what: `${atLeast} candidates that live`, timeoutMs: 60_000, intervalMs: 10 },
    );
  }

  /** The next leadership after one of that token; what it says is compared with the ensemble. */
  async leaderAfter(token: bigint, timeoutMs = 60_000): Promise<Leadership> {
    const next = await waitFor(() => this.book.all.find((leadership) => leadership.token > token), {
      what: `a leader with a token above ${token}`,
      timeoutMs,
      intervalMs: 2,
    }).catch(async (error: Error) => {
      const standing = (await this.members()).map(({ id }) => id).join(', ') || 'nobody';
      const failures = [...this.#candidates.values()].flatMap(({ id, failures }) =>
        failures.map((why) => `${id}: ${why}`),
      );
      throw new Error([`${error.message}; in the queue stand ${standing}`, ...failures].join('; '));
    });
    const [first] = await this.members();
    if (next.to === null && (first?.id !== next.who || first.czxid !== next.token)) {
      throw new Error(`${next.who} leads with ${next.token}, but first is ${first?.id} with ${first?.czxid}`);
    }
    return next;
  }

  /** Kills it, and forgets it. */
  async kill(candidate: Candidate): Promise<void> {
    this.#candidates.delete(candidate.id);
    await candidate.kill();
  }

  /** All leave in good order: nobody is left but ghosts. */
  async dismiss(): Promise<void> {
    await Promise.all([...this.#candidates.values()].map((candidate) => candidate.end()));
    this.#candidates.clear();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#candidates.values()].map((candidate) => candidate.kill()));
    await this.operator.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
