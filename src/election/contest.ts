import type { CampaignRules } from './campaign.js';
import { encodeCandidate, type Metadata } from './candidate.js';
import type { ElectionPaths } from './names.js';
import { bearsTouch } from './queue.js';

/** Where this process is, for the candidate's node. */
export interface Whereabouts {
  readonly hostname: string;
  readonly pid: number;
}

/** What a candidate says of itself, and how it stands. */
interface Candidate {
  readonly id: string;
  readonly metadata: Metadata;
  readonly whereabouts: Whereabouts;
  /** Milliseconds since 1970. */
  readonly joinedAt: number;
  readonly nodePrefix: string;
  readonly takeoverDelayMs: number;
  /** The queue is one of other libraries. */
  readonly foreign: boolean;
}

/** What a candidacy stands for: the election and the candidate. Kept for each election, so what can be made of it isn't kept. */
export class Contest implements CampaignRules {
  readonly election: string;
  readonly paths: ElectionPaths;
  readonly sessionsPath: string;
  readonly nodePrefix: string;
  readonly foreign: boolean;
  readonly candidateId: string;
  readonly metadata: Metadata;
  readonly takeoverDelayMs: number;
  readonly #whereabouts: Whereabouts;
  readonly #joinedAt: number;

  /** @throws {CandidateTooLargeError} {@link InvalidOptionError} */
  constructor(election: string, paths: ElectionPaths, sessionsPath: string, candidate: Candidate) {
    this.election = election;
    this.paths = paths;
    this.sessionsPath = sessionsPath;
    this.nodePrefix = candidate.nodePrefix;
    this.foreign = candidate.foreign;
    this.candidateId = candidate.id;
    this.metadata = candidate.metadata;
    this.takeoverDelayMs = candidate.takeoverDelayMs;
    this.#whereabouts = candidate.whereabouts;
    this.#joinedAt = candidate.joinedAt;
    this.#encoded();
    // Written again at the claim, when the caller may have gone on with its own object.
    this.metadata = copied(candidate.metadata);
  }

  /** Whether a leader touches its node at its claim: not where a candidate behind it would take that for its end. */
  get touches(): boolean {
    return bearsTouch(this.nodePrefix);
  }

  /** The bytes of our candidate node: always the same. */
  get data(): Uint8Array {
    // Curator and kazoo take the data of a node for its participant's plain id.
    return this.foreign ? new TextEncoder().encode(this.candidateId) : this.#encoded();
  }

  #encoded(): Uint8Array {
    const { hostname, pid } = this.#whereabouts;
    return encodeCandidate({
      id: this.candidateId,
      host: hostname,
      pid,
      metadata: this.metadata,
      joinedAt: new Date(this.#joinedAt).toISOString(),
    });
  }
}

/** As its JSON says; nothing is kept anew for the thousands who say nothing. */
function copied(metadata: Metadata): Metadata {
  return Object.keys(metadata).length === 0 ? metadata : JSON.parse(JSON.stringify(metadata));
}
