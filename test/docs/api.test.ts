import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiSite } from '../../deploy/docs/api.js';
import { project } from './markdown.js';

const folder = mkdtempSync(join(tmpdir(), 'tenure-api-'));
const [site, json] = [join(folder, 'site'), join(folder, 'site.json')];

// It fails where an export has no docstring, names a type that isn't exported, or links to nothing.
beforeAll(() => apiSite(site, json), 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Where a page leads within the site: `href` and `src` of its tags. */
function targets(html: string): string[] {
  const found = [...html.matchAll(/<(?:a|img|link|script)\b[^>]*? (?:href|src)="([^"]*)"/g)].map(([, to = '']) => to);
  return found.map((to) => to.replaceAll('&amp;', '&')).filter((to) => !/^[a-z][a-z0-9+.-]*:/i.test(to));
}

/** A page's links to what isn't there. */
function dead(page: string): string[] {
  return targets(readFileSync(join(site, page), 'utf8')).filter((target) => {
    const [path = '', anchor = ''] = decodeURIComponent(target).split('#');
    const to = path === '' ? join(site, page) : join(site, dirname(page), path);
    if (!existsSync(to) || !statSync(to).isFile()) return true;
    return anchor !== '' && !readFileSync(to, 'utf8').includes(` id="${anchor}"`);
  });
}

describe("the site of 'make docs'", () => {
  it('has everything that the package exports', () => {
    const { exports } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const entries = Object.keys(exports).filter((name) => name !== './package.json');
    const modules = JSON.parse(readFileSync(json, 'utf8')).children.map(({ name }: { name: string }) => name);
    expect(modules.sort()).toEqual(entries.map((entry) => entry.replace('.', 'tenure')).sort());
  });

  it('has no dead links', () => {
    const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
    const links = pages.flatMap((page) => targets(readFileSync(join(site, page), 'utf8')));
    expect(links.length).toBeGreaterThan(1_000);
    expect(pages.flatMap((page) => dead(page).map((target) => `${page}: ${target}`))).toEqual([]);
  });
});
