import { CoordinatorError } from '../errors.js';

/** The characters that ZooKeeper refuses in a path, as UTF-16 units: controls, surrogates, private use, specials. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

/** Good paths, all but a few: names that begin with no dot and hold no character beyond those of most names. Each request's path is checked. */
const GOOD = /^(?:\/[\w\-:@~][\w\-.:@~]*)+$/;

/**
 * What is wrong with a znode path, in words that follow the path, or null when it is a good one.
 *
 * `sequential` allows a trailing slash, as the server then appends a number.
 */
export function pathProblem(path: string, sequential = false): string | null {
  if (typeof path !== 'string') return 'is not a string';
  if (GOOD.test(path)) return null;
  if (!path.startsWith('/')) return "doesn't begin with a slash";
  if (path === '/') return null;
  if (FORBIDDEN.test(path)) return 'holds a character that ZooKeeper refuses';
  const segments = path.slice(1).split('/');
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    if (segment === '' && !(last && sequential)) return last ? 'ends with a slash' : 'has an empty segment';
    // With a number appended, `.` and `..` become ordinary names.
    if ((segment === '.' || segment === '..') && !(last && sequential)) return `has the segment "${segment}"`;
  }
  return null;
}

/**
 * Checks a path before it goes to the ensemble: a native client cuts it at a NUL, and a server closes nothing but answers
 * reads of an impossible path with "no node".
 *
 * @throws CoordinatorError of kind `invalid_argument`
 */
export function checkPath(operation: string, path: string, sequential = false): void {
  const problem = pathProblem(path, sequential);
  if (problem !== null) throw new CoordinatorError('invalid_argument', operation, String(path), `the path ${problem}`);
}
