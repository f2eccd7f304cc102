import { afterAll, describe, expect, it } from 'vitest';
import type { Block } from '../markdown.js';
import { claimedBy } from './claims.js';
import { compile, Modules } from './typescript.js';

/* Each block of TypeScript is compiled against src, as a module of its own, whether it is run or not. */

const modules = new Modules();
afterAll(() => modules[Symbol.dispose]());

const documented = (['compiled', 'run', 'run in'] as const).flatMap((how) =>
  claimedBy(how, ['ts']).map(({ block }) => block),
);

const mistaken: Block = {
  page: 'wrong.md',
  line: 8,
  language: 'ts',
  comment: "fragment: import type { Term } from 'tenure';\ndeclare const term: Term;",
  code: 'term.assert();\nterm.asert();\nconst token: string = term.token;\n',
};

const complaints = compile(
  modules,
  [...documented, mistaken].map((block) => modules.write(block)),
);

describe('the TypeScript on the pages', () => {
  it('is there', () => {
    expect(documented.length).toBeGreaterThan(20);
  });

  it('compiles against src', () => {
    expect(complaints.filter((complaint) => !complaint.startsWith('wrong.md'))).toEqual([]);
  });

  it('would not if it were wrong, and says where', () => {
    expect(complaints.filter((complaint) => complaint.startsWith('wrong.md'))).toEqual([
      expect.stringContaining('wrong.md:9: error TS2551'),
      expect.stringContaining('wrong.md:10: error TS2322'),
    ]);
  });
});
