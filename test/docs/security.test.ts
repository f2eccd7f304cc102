import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { project } from './markdown.js';

const page = readFileSync(`${project}SECURITY.md`, 'utf8');

interface Claim {
  readonly section: string;
  readonly text: string;
}

/** The items of the lists of what is claimed, each as one line. */
function claims(): Claim[] {
  return page
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const [section = '', ...lines] = part.split('\n');
      const items = lines
        .join('\n')
        .split(/^(?:- |\d\. )/m)
        .slice(1);
      return items.map((item) => ({
        section,
        text:
          item
            .split(/\n\n(?! )/)[0]
            ?.replaceAll(/\s+/g, ' ')
            .trim() ?? '',
      }));
    });
}

/** They say what there is to protect, and what isn't covered: no claims. */
const NO_CLAIMS = ['What there is to protect', 'What is not covered'];

const tests = [...page.matchAll(/\]\((test\/[^)#]+)\)/g)].map(([, path = '']) => path);

describe('SECURITY.md', () => {
  it.each(claims().filter(({ section }) => !NO_CLAIMS.includes(section)))(
    'names the test of a claim, or says that there is none: $section, $text',
    ({ text }) => {
      expect(text).toMatch(/Tests?: \[|No test: /);
    },
  );

  it.each([...new Set(tests)])('names %s, which is there and tests something', (path) => {
    expect(statSync(project + path).isFile()).toBe(true);
    expect(readFileSync(project + path, 'utf8')).toMatch(/\b(it|test|describe|check)(\.\w+)*[(<]/);
    // A part of a suite is no file that runs by itself.
    if (!path.startsWith('test/conformance/')) expect(path).toMatch(/\.test\.ts$/);
  });

  it('finds claims and tests where they are', () => {
    expect(claims().length).toBeGreaterThan(20);
    expect(new Set(tests).size).toBeGreaterThan(10);
  });
});

describe('what it says of', () => {
  it('command lines: no option takes a secret', () => {
    const suspicious = COMMANDS.flatMap(({ name, options }) =>
      Object.entries(options)
        .filter(
          ([option, { kind }]) => kind === 'text' && /token|password|passphrase|secret|credential|auth/.test(option),
        )
        .map(([option]) => `${name} --${option}`),
    );
    expect(suspicious.length).toBeGreaterThan(COMMANDS.length / 2);
    for (const option of suspicious) expect(option).toMatch(/-file$/);
  });

  it('install scripts: four packages may run theirs', () => {
    const { allowScripts } = JSON.parse(readFileSync(`${project}package.json`, 'utf8')) as { allowScripts: object };
    expect(Object.keys(allowScripts)).toHaveLength(4);
  });
});
