import { describe, expect, it } from 'vitest';
import { alone } from '../../deploy/docs/alone.js';

const has = (path: string): boolean => ['README.md', 'docs/fencing.md', 'docs/images/a.png'].includes(path);
const read = (text: string): string => alone({ path: 'docs/page.md', text }, has);

describe('a page without the repository', () => {
  it('keeps the links to what is there, and to the web', () => {
    const text = '[a](fencing.md#redis) [b](../README.md) [c](#below) [d](https://example.org/x) ![e](images/a.png)\n';
    expect(read(text)).toBe(text);
  });

  it('names what is not there by its path in the repository', () => {
    expect(read('See [the tests](../test/unit/a.test.ts#x), and\n[more](gone.md "title").\n')).toBe(
      'See the tests (`test/unit/a.test.ts`), and\nmore (`docs/gone.md`).\n',
    );
    expect(read('[`test/simulation`](../test/simulation/) [deploy/x](../deploy/x)')).toBe(
      '`test/simulation` `deploy/x`',
    );
    expect(read('![Two leaders](images/gone.png) [![x](images/a.png)](../bench)')).toBe(
      'Two leaders (`docs/images/gone.png`) ![x](images/a.png) (`bench`)',
    );
  });

  it('leaves code and comments as they are', () => {
    const text = '`[a](gone.md)`\n\n```md\n[b](gone.md)\n```\n\n<!-- [c](gone.md) -->\n';
    expect(read(text)).toBe(text);
  });

  it('refuses a link by reference to what is not there', () => {
    expect(() => read('[a][x]\n\n[x]: ../bench/a.ts\n')).toThrow('docs/page.md: [x]: ../bench/a.ts: write this link');
    expect(() => read('[a][x]\n\n[x]: fencing.md\n')).not.toThrow();
  });
});
