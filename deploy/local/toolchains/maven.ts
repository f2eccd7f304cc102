import { join } from 'node:path';
import { cacheDirectory } from '../cache.js';
import { lock } from '../lock.js';
import { command, runTool } from './command.js';

/** Copies the jars that a pom asks for, and what they need at run time, from Maven Central to a folder. */
export async function copyDependencies(
  pom: string,
  library: string,
  properties: readonly string[] = [],
): Promise<void> {
  const mvn = command('mvn');
  // Maven's local repository can't stand two that download the same thing, so one process fetches and the others wait.
  const held = await lock(join(cacheDirectory(), 'maven.lock'));
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${library}`];
    await runTool('Maven', mvn, ['-B', '-q', '--strict-checksums', '-f', pom, ...goal, ...properties]);
  } finally {
    held.release();
  }
}
