/**
 * Fills the cache with kazoo, with Curator and with what the arguments name, before tests, whose time is limited: files
 * of requirements (`.txt`), poms (`.xml`), and folders of npm packages or Go modules. What isn't installed is named and left out, and is an
 * error with TENURE_REQUIRE_ALL=1.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MissingToolError } from '../missing-tool.js';
import { curatorClasspath, goProgram, jarsOf, kazooPython, npmPackages, pythonWith } from './index.js';

const onProgress = (line: string): void => console.error(line);

function fetchNamed(what: string): Promise<unknown> {
  if (what.endsWith('.txt')) return pythonWith(what, onProgress);
  if (what.endsWith('.xml')) return jarsOf(what, onProgress);
  if (existsSync(join(what, 'package-lock.json'))) return npmPackages(what, onProgress);
  return goProgram(what);
}

async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error((error as Error).message);
    if (!(error instanceof MissingToolError) || process.env['TENURE_REQUIRE_ALL']) process.exitCode = 1;
  }
}

const named = process.argv.slice(2).map((what) => () => fetchNamed(what));
for (const work of [() => kazooPython(onProgress), () => curatorClasspath(onProgress), ...named]) await attempt(work);
