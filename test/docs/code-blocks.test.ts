import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startEnsemble } from '../../deploy/local/index.js';
import { type Block, blocks, pages, project } from './markdown.js';

/**
 * Each block marked `ts` in README.md and docs/ is compiled against src, as a module of its own. The comment above its
 * fence says what else there is to know:
 *
 *     <!-- fragment: import { connect } from 'tenure'; declare const term: Term; -->   compiled behind this
 *     <!-- run -->                                                                     and run, on a real server
 */

// Inside of the project, so that packages and types are found; ignored by git.
mkdirSync(join(project, '.cache'), { recursive: true });
const folder = mkdtempSync(join(project, '.cache', 'docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tsconfig = join(folder, 'tsconfig.json');
writeFileSync(
  tsconfig,
  JSON.stringify({
    extends: '../../tsconfig.json',
    compilerOptions: {
      // What is shown need not be used, and readers write process.env.NAME.
      noUnusedLocals: false,
      noUnusedParameters: false,
      noPropertyAccessFromIndexSignature: false,
      paths: {
        tenure: ['../../src/index.ts'],
        'tenure/fencing': ['../../src/fencing/index.ts'],
        'tenure/*': ['../../src/*.ts'],
      },
    },
    include: ['*.ts'],
  }),
);

interface Written {
  readonly block: Block;
  readonly file: string;
  /** Lines of the file before the block's own. */
  readonly offset: number;
}

function write(block: Block, index: number): Written {
  const prelude = /^fragment: *([\s\S]*)$/.exec(block.comment)?.[1] ?? '';
  const head = `export {};\n${prelude}\n`;
  const file = join(folder, `block-${index}.ts`);
  writeFileSync(file, head + block.code);
  return { block, file, offset: head.split('\n').length - 1 };
}

/** What the compiler says of each block, at the place in the page. Errors in src are other tests' business. */
function compile(written: readonly Written[]): string[] {
  const { stdout, stderr, status } = spawnSync(
    'npx',
    ['--no-install', 'tsc', '-p', tsconfig, '--noEmit', '--pretty', 'false'],
    {
      cwd: project,
      encoding: 'utf8',
    },
  );
  const found: string[] = [];
  for (const line of stdout.split('\n')) {
    const [, file, at, message] = /^(.+?)\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    const hit = written.find((entry) => file !== undefined && basename(entry.file) === basename(file));
    if (hit !== undefined) found.push(`${hit.block.page}:${hit.block.line + Number(at) - 1 - hit.offset}: ${message}`);
  }
  if (status !== 0 && status !== 1 && status !== 2) throw new Error(`tsc: ${stdout}${stderr}`);
  // A configuration that it can't read makes the compiler find nothing at all.
  if (/^error TS/m.test(stdout)) throw new Error(stdout);
  return found;
}

const documented = pages()
  .filter(({ path }) => path === 'README.md' || path.startsWith('docs/'))
  .flatMap(blocks)
  .filter(({ language }) => language === 'ts' || language === 'typescript');

const mistaken: Block = {
  page: 'wrong.md',
  line: 8,
  language: 'ts',
  comment: "fragment: import type { Term } from 'tenure';\ndeclare const term: Term;",
  code: 'term.assert();\nterm.asert();\nconst token: string = term.token;\n',
};

const written = [...documented, mistaken].map(write);
const complaints = compile(written);

describe('the TypeScript in README.md and docs/', () => {
  it('is there', () => {
    expect(documented.length).toBeGreaterThan(3);
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

describe('what is marked to run', () => {
  const running = written.filter(({ block }) => block.comment === 'run');

  it('does so, on a real server, and ends by itself', { timeout: 120_000 }, async () => {
    expect(running.length).toBeGreaterThan(0);
    await using ensemble = await startEnsemble({ size: 1 });
    for (const { block, file } of running) {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), file], {
        cwd: project,
        encoding: 'utf8',
        timeout: 40_000,
        env: { ...process.env, TSX_TSCONFIG_PATH: tsconfig, ZK_SERVERS: ensemble.connectString },
      });
      expect({ at: `${block.page}:${block.line}`, status, stderr }).toEqual({
        at: `${block.page}:${block.line}`,
        status: 0,
        stderr: '',
      });
      expect(stdout).not.toBe('');
    }
  });
});
