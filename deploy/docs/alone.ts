import { dirname, join } from 'node:path/posix';
import { prose } from './prose.js';

/** A page of documentation. */
export interface Page {
  /** Relative to the project. */
  readonly path: string;
  readonly text: string;
}

/** A link or a picture, with an optional title; the text of a link may be a picture. */
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g;

/**
 * A page as those read it who don't have the project's files: what it links to and is not among theirs is named by its path
 * in the repository instead.
 *
 * @param has whether they have a file, by its path in the project
 * @throws for a link by reference to such a file: write it inline
 */
export function alone({ path, text }: Page, has: (path: string) => boolean): string {
  const missing = (target: string): string | null => {
    if (/^(#|[a-z][a-z0-9+.-]*:)/i.test(target)) return null;
    const to = join(dirname(path), decodeURI(target).replace(/#.*/s, ''));
    return has(to) ? null : to;
  };
  const body = prose(text).replaceAll(/`[^`\n]*`/g, (code) => '`'.repeat(code.length));
  for (const [definition, target = ''] of body.matchAll(/^ {0,3}\[[^\]]+\]: *<?([^\s>]+)>?/gm)) {
    if (missing(target) !== null) throw new Error(`${path}: ${definition.trim()}: write this link inline`);
  }
  let page = '';
  let at = 0;
  for (const match of body.matchAll(LINK)) {
    const [whole, picture = '', words = '', target = ''] = match;
    const to = missing(target);
    if (to === null) continue;
    const start = match.index + picture.length + 1;
    page += text.slice(at, match.index) + named(text.slice(start, start + words.length), to);
    at = match.index + whole.length;
  }
  return page + text.slice(at);
}

function named(words: string, path: string): string {
  const plain = path.replace(/\/$/, '');
  return words === '' || words.replaceAll('`', '') === plain ? `\`${plain}\`` : `${words} (\`${plain}\`)`;
}
