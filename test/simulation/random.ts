export { Random } from '../../src/verify/random.js';
