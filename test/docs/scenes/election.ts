import { connect } from '../../../src/index.js';
import { servers } from './place.js';

/** For scenes whose block begins with an election. On a busy machine their processes stand still for a second and more. */
export const tenure = await connect({ servers, sessionTimeoutMs: 30_000, lifeline: false });
export const election = tenure.election('settlement', { id: 'worker-1' });
