import { fileURLToPath } from 'node:url';
import { curatorProgram, goProgram, kazooPython } from '../../deploy/local/toolchains/index.js';
import { missing } from '../support/tools.js';

/** Whose recipe a candidate follows, and which of them. */
export type Recipe =
  | 'tenure own'
  | 'tenure lock-'
  | 'tenure latch-'
  | 'tenure __lock__'
  | 'curator selector'
  | 'curator latch'
  | 'kazoo shared'
  | 'kazoo patterns'
  | 'kazoo default'
  | 'go lock';

type Library = 'tenure' | 'curator' | 'kazoo' | 'go';

const place = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What can't be run here, in a line; undefined where all can. */
export const lacking = missing('python3', 'javac', 'mvn', 'go');

/** How each library's program is started, once all are fetched and compiled. */
export class Programs {
  readonly #commands: Readonly<Record<Library, readonly string[]>>;

  private constructor(commands: Readonly<Record<Library, readonly string[]>>) {
    this.#commands = commands;
  }

  static async ready(): Promise<Programs> {
    const [python, classpath, go] = await Promise.all([
      kazooPython(),
      curatorProgram(place('./curator')),
      goProgram(place('./go')),
    ]);
    const quiet = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=off', '-XX:TieredStopAtLevel=1', '-Xmx64m'];
    return new Programs({
      tenure: [process.execPath, '--import', 'tsx', place('./tenure/candidate.ts')],
      curator: ['java', ...quiet, '-cp', classpath, 'Candidate'],
      kazoo: [python, place('./kazoo/candidate.py')],
      go: [go],
    });
  }

  command(recipe: Recipe, parameters: readonly string[]): readonly string[] {
    const [library = '', name = ''] = recipe.split(' ');
    return [...this.#commands[library as Library], ...parameters, name];
  }
}
