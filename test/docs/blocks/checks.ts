import type { Check } from './check.js';
import { DATA_CHECKS } from './checks-data.js';
import { FENCE_CHECKS } from './checks-fences.js';
import { TEXT_CHECKS } from './checks-text.js';
import { claimedBy } from './claims.js';

/** By the name that stands above the block: `checked: term record`. */
export const CHECKS: Readonly<Record<string, Check>> = { ...DATA_CHECKS, ...FENCE_CHECKS, ...TEXT_CHECKS };

const LANGUAGES = ['json', 'jsonnet', 'lua', 'properties', 'python', 'sql', 'text', 'yaml'];

export const checked = claimedBy('checked', LANGUAGES);
