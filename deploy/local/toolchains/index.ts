/** Compilers, interpreters and libraries of other languages, for candidates that are not ours. Fetched once into the cache. */
import { lacking } from './command.js';

export { goBuild, goEnvironment } from './go.js';
export { curatorClasspath, jarsOf, javaBuild } from './java.js';
export { kazooPython, pythonWith } from './python.js';

export type Toolchain = 'python' | 'java' | 'go';

/** Why a language can't be served here, in a line; undefined where it can. For what is decided before any test begins. */
export function lackingToolchain(...languages: readonly Toolchain[]): string | undefined {
  const commands = { python: ['python3'], java: ['java', 'javac', 'mvn'], go: ['go'] } as const;
  return lacking(...languages.flatMap((language) => commands[language]));
}
