import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyUserPages } from '../docs/user-pages.js';
import { runTool } from '../local/toolchains/command.js';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** What only this project needs: whoever installs the package has neither its tools nor its sources. */
const OURS = ['scripts', 'devDependencies', 'overrides', 'allowScripts', 'publishConfig'];

/**
 * Makes the folder that is packed and published: the compiled module and the pages, in which links to what isn't among
 * them are gone. A folder of its own, as npm packs files only as they lie there.
 */
export async function stagePackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const env = { TENURE_DIST: join(folder, 'dist') };
  await runTool('npm run build', 'npm', ['run', '--silent', 'build'], { cwd: project, env });
  copyUserPages(folder);
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  for (const field of OURS) delete manifest[field];
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { publishConfig } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  await stagePackage(join(project, publishConfig.directory));
}
