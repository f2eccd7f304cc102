import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '../../deploy/docs/alone.js';
import { FENCE, prose } from '../../deploy/docs/prose.js';

/** The project's folder, with a slash at the end. */
export const project = fileURLToPath(new URL('../../', import.meta.url));

/** All pages that belong to the project, committed or about to be. */
export function pages(): Page[] {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.md'], {
    cwd: project,
    encoding: 'utf8',
  });
  const paths = [...new Set(list.split('\0').filter((path) => path !== ''))].sort();
  return paths.map((path) => ({ path, text: readFileSync(project + path, 'utf8') }));
}

/** A fenced block of code. */
export interface Block {
  readonly page: string;
  /** The line of the page on which the code begins; the first one is 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** The comment right above the fence, without its marks; empty where there is none. */
  readonly comment: string;
}

export function blocks({ path, text }: Page): Block[] {
  return [...text.matchAll(FENCE)].map((match) => {
    const [, indent = '', , info = '', code = ''] = match;
    const above = text.slice(0, match.index);
    return {
      page: path,
      line: above.split('\n').length + 1,
      language: info.trim().split(/\s/)[0] ?? '',
      code: indent === '' ? code : code.replaceAll(new RegExp(`^ {1,${indent.length}}`, 'gm'), ''),
      comment: /<!--((?:(?!-->)[\s\S])*)-->\s*$/.exec(above)?.[1]?.trim() ?? '',
    };
  });
}

/** The anchors of a page, made from its headings as GitHub makes them. */
export function anchors(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of prose(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; found.has(anchor); n += 1) anchor = `${slug}-${n}`;
    found.add(anchor);
  }
  return found;
}

/** What a page links to, with the line on which it does; addresses on the web are left out. */
export function links(text: string): { line: number; target: string }[] {
  const body = prose(text).replaceAll(/`[^`\n]*`/g, (code) => '`'.repeat(code.length));
  const inline = [...body.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const defined = [...body.matchAll(/^ {0,3}\[[^\]]+\]: *<?([^\s>]+)>?/gm)];
  return [...inline, ...defined]
    .map((match) => ({ line: body.slice(0, match.index).split('\n').length, target: match[1] ?? '' }))
    .filter(({ target }) => !/^[a-z][a-z0-9+.-]*:/i.test(target));
}
