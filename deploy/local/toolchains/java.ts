import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Progress } from '../zookeeper/distribution.js';
import { command, runTool } from './command.js';
import { digest, digestOf, filesIn } from './digest.js';
import { kept } from './kept.js';
import { copyDependencies } from './maven.js';

const curator = fileURLToPath(new URL('./curator.xml', import.meta.url));

/** Curator's recipes and ZooKeeper's Java client, as a class path. */
export function curatorClasspath(onProgress?: Progress): Promise<string> {
  return jarsOf(curator, onProgress);
}

/**
 * The jars that a pom asks for, as a class path. Fetched from Maven Central once, and compared with the checksums that stand
 * beside the pom, in a file of its name that ends in `.sha256`, as `sha256sum` writes and checks it.
 *
 * @throws {MissingToolError}
 */
export async function jarsOf(pom: string, onProgress: Progress = () => {}): Promise<string> {
  const sums = readFileSync(pom.replace(/\.xml$/, '.sha256'), 'utf8');
  const directory = await kept(`jars-${digest(readFileSync(pom), sums)}`, async (folder) => {
    onProgress(`fetching what ${pom} lists from Maven Central into ${folder}`);
    await copyDependencies(pom, folder);
    check(folder, sums);
  });
  return filesIn(directory, '.jar').join(':');
}

/** Every jar that came along must be listed, and be what it was. */
function check(folder: string, sums: string): void {
  const pinned = new Map(sums.split('\n').map((line) => [line.slice(66), line.slice(0, 64)]));
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jar'))) {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    if (pinned.get(name) !== sum)
      throw new Error(`${name} has the checksum ${sum}, not ${pinned.get(name) ?? 'any'} as pinned`);
  }
}

/** Compiles all of a folder's Java with a class path: the class path to run it with. */
export async function javaBuild(directory: string, classpath = ''): Promise<string> {
  const javac = command('javac');
  const version = await runTool('asking javac for its version', javac, ['-version']);
  const sources = filesIn(directory, '.java');
  const classes = await kept(`classes-${digest(version, classpath, digestOf(directory, sources))}`, async (folder) => {
    await runTool('javac', javac, [
      '--release',
      '11',
      '-Xlint:all',
      '-Werror',
      '-proc:none',
      '-cp',
      classpath,
      '-d',
      folder,
      ...sources,
    ]);
  });
  return classpath === '' ? classes : `${classes}:${classpath}`;
}
