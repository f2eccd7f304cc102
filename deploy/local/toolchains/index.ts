/** Programs in other languages, with their libraries, for candidates that are not ours: fetched and compiled into the cache. */

export { goEnvironment, goProgram } from './go.js';
export { curatorClasspath, curatorProgram, jarsOf, javaClasses } from './java.js';
export { npmPackages } from './node.js';
export { kazooPython, pythonWith } from './python.js';
