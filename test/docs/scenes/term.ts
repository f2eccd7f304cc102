import { election } from './election.js';

/** For scenes whose block begins with a term. */
export const term = await election.campaign();
