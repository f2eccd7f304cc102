import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../zookeeper/distribution.js';
import { runTool } from './command.js';
import { digest } from './digest.js';
import { kept } from './kept.js';

const FILES = ['package.json', 'package-lock.json'];

/**
 * A folder with the npm packages that a folder's `package-lock.json` pins, without running their scripts: for tools that
 * need other releases than the project itself. Fetched from npm once.
 */
export function npmPackages(folder: string, onProgress: Progress = () => {}): Promise<string> {
  const read = FILES.map((name) => readFileSync(join(folder, name)));
  return kept(`npm-${digest(...read)}`, async (place) => {
    onProgress(`fetching what ${folder} lists from npm into ${place}`);
    for (const name of FILES) cpSync(join(folder, name), join(place, name));
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await runTool('npm ci', 'npm', ['ci', ...options], { cwd: place });
  });
}
