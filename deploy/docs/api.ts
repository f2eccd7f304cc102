import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTool } from '../local/toolchains/command.js';
import { npmPackages } from '../local/toolchains/index.js';
import { prose } from './prose.js';
import { copyUserPages } from './user-pages.js';

const project = fileURLToPath(new URL('../../', import.meta.url));
const settings = fileURLToPath(new URL('./api/', import.meta.url));

/**
 * Writes a site of HTML: the reference of all that the package exports, from its docstrings, and the pages for users. It is
 * not committed: every change of a docstring would be in two places. TypeDoc needs the compiler of TypeScript 6, while the
 * project's own has no such interface any more; so it is installed apart from the project, in the cache.
 *
 * @param site the folder to write; what was in it goes
 * @param json where to write the reference as JSON too
 * @throws with TypeDoc's words for each export without a docstring, each type that is named and not exported, and each link
 *   that leads nowhere
 */
export async function apiSite(site: string, json?: string): Promise<void> {
  const typedoc = join(await npmPackages(settings, console.error), 'node_modules/typedoc/bin/typedoc');
  const folder = mkdtempSync(join(tmpdir(), 'tenure-site-'));
  try {
    const pages = stage(folder);
    const options = [
      ...['--options', join(settings, 'typedoc.json'), '--out', site, '--readme', join(folder, 'README.md')],
      ...(json === undefined ? [] : ['--json', json]),
      ...entryPoints().flatMap((entry) => ['--entryPoints', entry]),
      ...pages.flatMap((page) => ['--projectDocuments', page]),
    ];
    await runTool('TypeDoc', process.execPath, [typedoc, ...options], { cwd: project, env: { NO_COLOR: '1' } });
    nameIndex(join(site, 'documents'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** TypeDoc's links to a heading of the first page leave out its name, which only a web server makes up for. */
function nameIndex(documents: string): void {
  for (const name of readdirSync(documents)) {
    const file = join(documents, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('href="../#', 'href="../index.html#'));
  }
}

/** The sources of what `package.json` exports. */
function entryPoints(): string[] {
  const { exports } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  const types = Object.values<{ types?: string }>(exports).flatMap((entry) => entry.types ?? []);
  return types.map((path) => join(project, path.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')));
}

/** Copies the pages, with what they show. Returns those that have a place in the site's navigation. */
function stage(folder: string): string[] {
  cpSync(join(project, 'docs/images'), join(folder, 'docs/images'), { recursive: true });
  const pages = copyUserPages(folder, {
    has: (path) => path.startsWith('docs/images/'),
    shape: ({ path, text }) => (path === 'README.md' ? plainHeadings(text) : titled(path, plainHeadings(text))),
  });
  return pages.filter((path) => path !== 'README.md').map((path) => join(folder, path));
}

/** Without code in headings: TypeDoc leaves it out of their anchors, to which GitHub's spelling leads. */
function plainHeadings(page: string): string {
  const lines = prose(page).split('\n');
  return page
    .split('\n')
    .map((line, at) => (/^#{1,6} /.test(lines[at] ?? '') ? line.replaceAll('`', '') : line))
    .join('\n');
}

/** With its heading as TypeDoc wants it: before the page. */
function titled(path: string, page: string): string {
  const [heading = '', title = path] = /^# (.*)$/m.exec(page) ?? [];
  const group = path.startsWith('docs/decisions/') ? 'Decisions' : 'Pages';
  return `---\ntitle: ${JSON.stringify(title)}\ngroup: ${group}\n---\n${page.replace(heading, '')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const site = join(project, 'site');
  try {
    await apiSite(site);
    console.log(`written: ${join(site, 'index.html')}`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
