import { describe, expect, it } from 'vitest';
import { blocks, pages } from '../markdown.js';
import { ALL_BLOCKS, at, type Claim, claimOf } from './claims.js';

/** What claims the only block of a page with this on it. */
function claimOn(text: string): Claim {
  const [block] = blocks({ path: 'x.md', text });
  if (block === undefined) throw new Error('no block');
  return claimOf(block);
}

const refusal = (text: string) => {
  try {
    return claimOn(text);
  } catch (error) {
    return (error as Error).message;
  }
};

describe('Code blocks in the documentation', () => {
  it.each(ALL_BLOCKS.map((block) => [at(block), block] as const))('%s is checked by something', (_, block) => {
    expect(() => claimOf(block)).not.toThrow();
  });

  it.each(pages().filter(({ text }) => /^[ >]*(```|~~~)/m.test(text)))(
    'are found on $path: each has two fences',
    ({ path, text }) => {
      const fences = text.split('\n').filter((line) => /^[ >\t]*(?:[-*] +|\d+\. +)?(```|~~~)/.test(line));
      expect(fences.length).toBe(2 * ALL_BLOCKS.filter(({ page }) => page === path).length);
    },
  );

  it('are many', () => {
    expect(ALL_BLOCKS.length).toBeGreaterThan(100);
  });

  it('are refused where nothing would check them', () => {
    expect(refusal('```\nls\n```\n')).toMatch(/^x\.md:2: a block in no language, which nothing checks/);
    expect(refusal('```rust\nfn main() {}\n```\n')).toMatch(/a block in rust, which nothing checks/);
    expect(refusal('```sh\nls\n```\n')).toMatch(/no comment above a block in sh, which may be: run, /);
    expect(refusal('<!-- rum -->\n```sh\nls\n```\n')).toMatch(/the comment "rum" above a block in sh/);
    // A reason has more than one word.
    expect(refusal('<!-- not run: why -->\n```sh\nls\n```\n')).toMatch(/the comment "not run: why"/);
    expect(refusal('<!-- picture -->\n```ts\nlet a;\n```\n')).toMatch(/may be: compiled, run, run in$/);
    expect(refusal('<!-- run -->\n\nText.\n\n```sh\nls\n```\n')).toMatch(/no comment above/);
  });

  it('say by a comment what is to be done', () => {
    expect(claimOn('```ts\nlet a;\n```\n')).toEqual({ how: 'compiled', behind: '' });
    expect(claimOn('<!-- run in a-scene: a, type B => c -->\n```ts\nlet c;\n```\n')).toEqual({
      how: 'run in',
      scene: 'a-scene',
      takes: 'a, type B',
      gives: 'c',
    });
    expect(claimOn('<!-- not run: it installs -->\n```sh\nls\n```\n')).toEqual({ how: 'not run', why: 'it installs' });
  });
});
