import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Progress } from '../zookeeper/distribution.js';
import { command, runTool } from './command.js';
import { digest, digestOf, filesIn } from './digest.js';
import { kept } from './kept.js';
import { copyDependencies } from './maven.js';

const curator = fileURLToPath(new URL('./curator.xml', import.meta.url));

/** Curator's recipes and ZooKeeper's Java client, as a class path. */
export async function curatorClasspath(onProgress?: Progress): Promise<string> {
  return (await jarsOf(curator, onProgress)).join(':');
}

/** Java sources compiled against Curator: the class path to run them with. */
export function curatorProgram(folder: string): Promise<string> {
  return javaClasses([folder], curator);
}

/**
 * Java sources compiled against what a pom depends on: the class path to run them with.
 *
 * @param folders where the sources are
 * @param pom whose dependencies are fetched; none where the sources need none
 * @throws {MissingToolError}
 */
export async function javaClasses(folders: readonly string[], pom?: string): Promise<string> {
  const javac = command('javac');
  const version = await runTool('asking javac for its version', javac, ['-version']);
  const library = pom === undefined ? [] : await jarsOf(pom);
  const classpath = library.join(':');
  const sources = folders.map((folder) => ({ folder, files: filesIn(folder, '.java') }));
  const read = sources.map(({ folder, files }) => digestOf(folder, files));
  const classes = await kept(`classes-${digest(version, classpath, ...read)}`, async (place) => {
    const options = [
      '--release',
      '17',
      '-Xlint:all,-processing',
      '-Werror',
      '-proc:none',
      '-cp',
      classpath,
      '-d',
      place,
    ];
    await runTool('javac', javac, [...options, ...sources.flatMap(({ files }) => files)]);
  });
  return [classes, ...library].join(':');
}

/**
 * The jars that a pom asks for. Fetched from Maven Central once, and compared with the checksums beside the pom where there
 * are some: in a file of its name that ends in `.sha256`, as `sha256sum` writes it.
 *
 * @throws {MissingToolError}
 */
export async function jarsOf(pom: string, onProgress: Progress = () => {}): Promise<string[]> {
  const pinned = pom.replace(/\.xml$/, '.sha256');
  const sums = existsSync(pinned) ? readFileSync(pinned, 'utf8') : undefined;
  const directory = await kept(`jars-${digest(readFileSync(pom), sums ?? '')}`, async (folder) => {
    onProgress(`fetching what ${pom} lists from Maven Central into ${folder}`);
    await copyDependencies(pom, folder);
    if (sums !== undefined) check(folder, sums);
  });
  return filesIn(directory, '.jar');
}

/** Every jar that came along must be listed, and be what it was. */
function check(folder: string, sums: string): void {
  const pinned = new Map(sums.split('\n').map((line) => [line.slice(66), line.slice(0, 64)]));
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jar'))) {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    const expected = pinned.get(name) ?? 'any';
    if (sum !== expected) throw new Error(`${name} has the checksum ${sum}, not ${expected} as pinned`);
  }
}
