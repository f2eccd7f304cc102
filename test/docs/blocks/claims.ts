import { type Block, blocks, pages } from '../markdown.js';

/** What checks a block. Its language and the comment right above its fence decide, and nothing else. */
export type Claim =
  /** By the compiler alone, behind this code. */
  | { readonly how: 'compiled'; readonly behind: string }
  /** As a program of its own, behind this code; what shell blocks of one page run is one script. */
  | { readonly how: 'run'; readonly behind: string }
  /** In a scene of test/docs/scenes: it takes these names from it, and gives those to what looks at it afterwards. */
  | { readonly how: 'run in'; readonly scene: string; readonly takes: string; readonly gives: string }
  /** As a script of its own, until it says this; then it is told to stop. */
  | { readonly how: 'run until'; readonly says: string }
  /** Each command by itself, as the table of examples says. */
  | { readonly how: 'run one by one' }
  /** All that can be had without running it: syntax, options, targets, files. */
  | { readonly how: 'not run'; readonly why: string }
  /** By the check of that name, in the tables of checks. */
  | { readonly how: 'checked'; readonly by: string }
  /** By its syntax: a picture has no other truth. */
  | { readonly how: 'picture' };

/** The claims that a language may make. One that isn't here is unknown. */
const LANGUAGES: Readonly<Record<string, readonly Claim['how'][]>> = {
  ts: ['compiled', 'run', 'run in'],
  sh: ['run', 'run until', 'run one by one', 'not run'],
  python: ['run', 'checked'],
  go: ['run'],
  java: ['run'],
  sql: ['checked'],
  lua: ['checked'],
  json: ['checked'],
  yaml: ['checked'],
  jsonnet: ['checked'],
  properties: ['checked'],
  text: ['checked', 'picture'],
  mermaid: ['picture'],
};

/** What a block without a comment claims, by its language: the others have to say. */
const SILENT: Readonly<Record<string, Claim>> = {
  ts: { how: 'compiled', behind: '' },
  mermaid: { how: 'picture' },
};

const COMMENTS: readonly (readonly [RegExp, (...groups: string[]) => Claim])[] = [
  [/^fragment: *([\s\S]+)$/, (behind) => ({ how: 'compiled', behind })],
  [/^run$/, () => ({ how: 'run', behind: '' })],
  [/^run behind: *([\s\S]+)$/, (behind) => ({ how: 'run', behind })],
  [
    /^run in ([a-z-]+)(?:: *([^>]+?))?(?: => (.+))?$/,
    (scene, takes, gives) => ({ how: 'run in', scene, takes, gives }),
  ],
  [/^run until: *(.+)$/, (says) => ({ how: 'run until', says })],
  [/^run one by one$/, () => ({ how: 'run one by one' })],
  [/^not run: *(\S+ \S+.*)$/, (why) => ({ how: 'not run', why })],
  [/^checked: *(.+)$/, (by) => ({ how: 'checked', by })],
  [/^picture$/, () => ({ how: 'picture' })],
];

/** @throws where nothing would check this block: its language, or the comment above it, says nothing that is known */
export function claimOf({ page, line, language, comment }: Block): Claim {
  const at = `${page}:${line}`;
  const allowed = LANGUAGES[language];
  if (allowed === undefined) {
    const known = Object.keys(LANGUAGES).join(', ');
    throw new Error(`${at}: a block in ${language || 'no language'}, which nothing checks: known are ${known}`);
  }
  const said = comment === '' ? SILENT[language] : claimed(comment);
  if (said === undefined || !allowed.includes(said.how)) {
    const what = comment === '' ? 'no comment' : `the comment "${comment}"`;
    throw new Error(`${at}: ${what} above a block in ${language}, which may be: ${allowed.join(', ')}`);
  }
  return said;
}

function claimed(comment: string): Claim | undefined {
  for (const [like, claim] of COMMENTS) {
    const found = like.exec(comment);
    if (found !== null) return claim(...found.slice(1).map((group) => group ?? ''));
  }
  return undefined;
}

export interface Claimed<H extends Claim['how']> {
  readonly block: Block;
  readonly claim: Extract<Claim, { readonly how: H }>;
}

/** All blocks of all pages that belong to the project. */
export const ALL_BLOCKS: readonly Block[] = pages().flatMap(blocks);

/** Those that are claimed in this way. Blocks that nothing claims are the census's business. */
export function claimedBy<H extends Claim['how']>(how: H, languages: readonly string[]): Claimed<H>[] {
  return ALL_BLOCKS.filter(({ language }) => languages.includes(language)).flatMap((block) => {
    try {
      const claim = claimOf(block);
      return claim.how === how ? [{ block, claim } as Claimed<H>] : [];
    } catch {
      return [];
    }
  });
}

export const at = ({ page, line }: Block): string => `${page}:${line}`;
