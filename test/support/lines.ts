export { type Line, Lines } from '../../src/verify/lines.js';
