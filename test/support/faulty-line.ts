export { FaultyLine, OPERATION } from '../../src/verify/faulty-line.js';
