/**
 * The contract of all guards, and what writing a guard of one's own takes.
 *
 * @module tenure/fencing
 */
export * from './errors.js';
export {
  type Accepted,
  checkResource,
  type FencedTerm,
  type FenceOutcome,
  type FencingObserver,
  type Guard,
  MAX_RESOURCE_BYTES,
} from './guard.js';
export { type PresenterOptions, presenter } from './presenter.js';
