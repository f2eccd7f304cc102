export { monotonicMs, sleep } from '../../src/verify/monotonic.js';
