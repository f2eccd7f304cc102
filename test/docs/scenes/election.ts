import { connect } from '../../../src/index.js';
import { servers } from './place.js';

/** For scenes whose block begins with an election. */
export const tenure = await connect({ servers, lifeline: false });
export const election = tenure.election('settlement', { id: 'worker-1' });
