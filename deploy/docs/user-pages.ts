import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone, type Page } from './alone.js';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** What those have who are given the pages without the repository. */
export interface Given {
  /** Whether they have a file besides the pages and the licence, by its path in the project. */
  has?(path: string): boolean;
  /** What a page is to look like. Default: as it is. */
  shape?(page: Page): string;
}

/**
 * Copies the pages that are for users, and the licence, to read them without the repository.
 *
 * @returns the pages' paths in the project, which are those in the folder too
 */
export function copyUserPages(folder: string, { has = () => false, shape = ({ text }) => text }: Given = {}): string[] {
  const docs = readdirSync(join(project, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
  const paths = ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...pages.sort()];
  const copied = new Set([...paths, 'LICENSE']);
  mkdirSync(folder, { recursive: true });
  cpSync(join(project, 'LICENSE'), join(folder, 'LICENSE'));
  for (const path of paths) {
    const page = { path, text: readFileSync(join(project, path), 'utf8') };
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const text = alone(page, (to) => copied.has(to) || has(to));
    writeFileSync(join(folder, path), shape({ path, text }));
  }
  return paths;
}
