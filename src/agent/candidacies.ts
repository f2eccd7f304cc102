import type { Logger, Tenure } from '../index.js';
import { Candidacy, type QueueNews } from './candidacy.js';
import type { Ending } from './candidacy-state.js';
import { Problem, unavailable } from './problem.js';

export interface Joining {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly hold?: 'stream' | 'ttl';
  readonly ttlMs?: number;
  readonly drainTimeoutMs?: number;
}

export interface CandidaciesOptions {
  readonly deadlineMs: number;
  readonly maxCandidacies: number;
  readonly logger: Logger;
  readonly onChange: (candidacy: Candidacy) => void;
  readonly onEnd: (candidacy: Candidacy, reason: Ending) => void;
}

const NEWS = ['campaign_started', 'joined', 'position', 'patient', 'suspect', 'record_seen'] as const;

/** All candidacies of this sidecar, by election and id. */
export class Candidacies {
  readonly #options: CandidaciesOptions;
  /** Names and ids are anybody's text: a Map knows no prototype. */
  readonly #byElection = new Map<string, Map<string, Candidacy>>();
  #count = 0;

  constructor(options: CandidaciesOptions) {
    this.#options = options;
  }

  /** Has the news of a connection reach the candidacies that they are about. */
  follow(tenure: Tenure): void {
    for (const type of NEWS) {
      tenure.events.on(type, (event: { election: string; candidateId: string }) => {
        this.find(event.election, event.candidateId)?.on({ type, ...event } as QueueNews);
      });
    }
  }

  find(election: string, id: string): Candidacy | undefined {
    return this.#byElection.get(election)?.get(id);
  }

  of(election: string): Iterable<Candidacy> {
    return this.#byElection.get(election)?.values() ?? [];
  }

  *all(): Iterable<Candidacy> {
    for (const candidacies of this.#byElection.values()) yield* candidacies.values();
  }

  get elections(): Iterable<string> {
    return this.#byElection.keys();
  }

  takesPartIn(election: string): boolean {
    return this.#byElection.has(election);
  }

  /** @throws {Problem} when there are too many, or the request doesn't say what keeps the candidacy */
  join(tenure: Tenure, election: string, id: string, joining: Joining): Candidacy {
    const { hold, ttlMs, metadata = {}, drainTimeoutMs } = joining;
    if (hold === undefined) throw invalid('/body/hold', 'is required when joining: "stream" or "ttl"');
    if (hold === 'ttl' && ttlMs === undefined) throw invalid('/body/ttlMs', 'is required with hold "ttl"');
    if (hold === 'stream' && ttlMs !== undefined) throw invalid('/body/ttlMs', 'means nothing with hold "stream"');
    if (this.#count >= this.#options.maxCandidacies) {
      throw unavailable('too_many_candidacies', `this sidecar holds ${this.#count} candidacies, as many as it may`, 5);
    }
    const { deadlineMs, logger, onChange } = this.#options;
    const candidacy = new Candidacy({
      election: tenure.election(election, {
        id,
        metadata,
        ...(drainTimeoutMs === undefined ? {} : { drainTimeoutMs }),
      }),
      hold,
      ttlMs: ttlMs ?? 0,
      deadlineMs,
      logger,
      onChange,
      onEnd: (ended, reason) => this.#forget(ended, reason),
    });
    const others = this.#byElection.get(election) ?? new Map<string, Candidacy>();
    this.#byElection.set(election, others.set(id, candidacy));
    this.#count += 1;
    return candidacy;
  }

  #forget(candidacy: Candidacy, reason: Ending): void {
    const { election, id } = candidacy;
    const others = this.#byElection.get(election);
    if (others?.get(id) === candidacy) {
      others.delete(id);
      this.#count -= 1;
      if (others.size === 0) this.#byElection.delete(election);
    }
    this.#options.onEnd(candidacy, reason);
  }
}

/** The client that asks isn't the one whose candidacy it is. */
export function taken({ election, id, endsInMs }: Candidacy): Problem {
  const what = `candidate ${JSON.stringify(id)} of ${JSON.stringify(election)}`;
  const wait = Math.min(3_600, Math.max(1, Math.ceil((endsInMs ?? 5_000) / 1_000)));
  return new Problem(
    409,
    'candidacy_taken',
    `${what} is held by a client: send its Candidacy-Key, choose another id, or wait until it ends`,
    { headers: { 'retry-after': String(wait) } },
  );
}

function invalid(path: string, message: string): Problem {
  return new Problem(400, 'invalid_request', `${path} ${message}`, { errors: [{ path, message }] });
}
