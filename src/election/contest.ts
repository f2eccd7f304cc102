import type { CampaignRules } from './campaign.js';
import type { Metadata } from './candidate.js';
import type { ElectionPaths } from './names.js';

/** What a candidacy stands for: the election and the candidate. */
export interface Contest {
  readonly election: string;
  readonly paths: ElectionPaths;
  readonly sessionsPath: string;
  readonly nodePrefix: string;
  /** The queue is one of other libraries. */
  readonly foreign: boolean;
  /** Whether a leader touches its node after its claim: not where a candidate behind it would take that for its end. */
  readonly touches: boolean;
  readonly candidateId: string;
  readonly metadata: Metadata;
  /** The bytes of our candidate node. */
  readonly data: Uint8Array;
  readonly rules: CampaignRules;
}
