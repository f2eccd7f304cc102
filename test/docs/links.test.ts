import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../deploy/docs/alone.js';
import { anchors, links, pages, project } from './markdown.js';

/** What is wrong with a page's links, a line each. */
function deadLinks({ path, text }: Page): string[] {
  return links(text).flatMap(({ line, target }) => {
    const [file = '', anchor] = decodeURI(target).split('#');
    const to = file === '' ? path : normalize(join(dirname(path), file));
    const at = `${path}:${line}: ${target}`;
    if (to.startsWith('..')) return [`${at} leads out of the project`];
    if (!existsSync(project + to)) return [`${at}: there is no ${to}`];
    if (anchor === undefined || anchor === '') return [];
    if (statSync(project + to).isDirectory() || !to.endsWith('.md')) return [`${at}: only a page has anchors`];
    return anchors(readFileSync(project + to, 'utf8')).has(anchor) ? [] : [`${at}: ${to} has no such heading`];
  });
}

describe('links between pages', () => {
  it.each(pages())('$path: each leads to a file, and to a heading of it', (page) => {
    expect(deadLinks(page)).toEqual([]);
  });

  it('are found dead where they are', () => {
    const text =
      '# One\n\n[a](README.md#nowhere) `[b](gone.md)` [c](gone.md)\n\n```\n[d](gone.md)\n```\n[e](#one) [f](#two)\n';
    expect(deadLinks({ path: 'x.md', text: `${text}[g](https://example.org/gone)\n` })).toEqual([
      expect.stringContaining('x.md:3: README.md#nowhere'),
      expect.stringContaining('x.md:3: gone.md'),
      expect.stringContaining('x.md:8: #one'),
      expect.stringContaining('x.md:8: #two'),
    ]);
  });
});
