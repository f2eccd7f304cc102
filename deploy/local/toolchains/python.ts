import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissingToolError } from '../missing-tool.js';
import type { Progress } from '../zookeeper/distribution.js';
import { command, runTool } from './command.js';
import { digest } from './digest.js';
import { kept } from './kept.js';

const kazoo = fileURLToPath(new URL('./kazoo.txt', import.meta.url));

/** A Python that can import kazoo: the path of its program. */
export function kazooPython(onProgress?: Progress): Promise<string> {
  return pythonWith(kazoo, onProgress);
}

/**
 * A Python of its own with what a file of requirements lists: the path of its program. Fetched from PyPI once. Where the
 * file gives checksums, pip insists on them.
 *
 * @throws {MissingToolError}
 */
export async function pythonWith(requirements: string, onProgress: Progress = () => {}): Promise<string> {
  const python = command('python3');
  const version = await runTool('asking python3 for its version', python, ['--version']);
  const name = `python-${digest(version, readFileSync(requirements))}`;
  const directory = await kept(name, async (folder) => {
    onProgress(`fetching what ${requirements} lists from PyPI into ${folder}`);
    await makeEnvironment(python, folder);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await runTool('pip install', join(folder, 'bin/python'), [...install, '-r', requirements]);
  });
  return join(directory, 'bin/python');
}

async function makeEnvironment(python: string, folder: string): Promise<void> {
  try {
    await runTool('python3 -m venv', python, ['-m', 'venv', folder]);
  } catch (error) {
    if (!/ensurepip|No module named venv/.test((error as Error).message)) throw error;
    throw new MissingToolError('this python3 makes no environments (Debian: apt-get install python3-venv)');
  }
}
