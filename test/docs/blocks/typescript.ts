import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Block, project } from '../markdown.js';
import { type Claim, claimOf } from './claims.js';

/** TypeScript of the pages as modules in a folder of their own, two levels below the project as deploy/ and examples/ are. */
export class Modules implements Disposable {
  readonly folder: string;
  readonly tsconfig: string;
  #written = 0;

  constructor() {
    mkdirSync(join(project, '.cache'), { recursive: true });
    // Inside of the project, so that packages and types are found; ignored by git.
    this.folder = mkdtempSync(join(project, '.cache', 'docs-'));
    this.tsconfig = join(this.folder, 'tsconfig.json');
    writeFileSync(
      this.tsconfig,
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
            'tenure/telemetry': ['../../src/telemetry/index.ts'],
            'tenure/*': ['../../src/*.ts'],
          },
        },
        include: ['*.ts'],
      }),
    );
  }

  /** @param code what is written in the block's place */
  write(block: Block, code = block.code): Written {
    const { before, after } = around(claimOf(block));
    const head = `export {};\n${before}\n`;
    const file = join(this.folder, `block-${++this.#written}.ts`);
    writeFileSync(file, `${head}${code}${after}`);
    return { block, file, offset: head.split('\n').length - 1 };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface Written {
  readonly block: Block;
  readonly file: string;
  /** Lines of the file before the block's own. */
  readonly offset: number;
}

function around(claim: Claim): { readonly before: string; readonly after: string } {
  if (claim.how === 'compiled' || claim.how === 'run') return { before: claim.behind, after: '' };
  if (claim.how !== 'run in') return { before: '', after: '' };
  const from = `'../../test/docs/scenes/${claim.scene}.js'`;
  return {
    before: claim.takes === '' ? `import ${from};` : `import { ${claim.takes} } from ${from};`,
    after: claim.gives === '' ? '' : `\nexport { ${claim.gives} };\n`,
  };
}

/** What the compiler says of each block, at the place in the page. Errors in src are other tests' business. */
export function compile(modules: Modules, written: readonly Written[]): string[] {
  const { stdout, stderr, status } = spawnSync(
    'npx',
    ['--no-install', 'tsc', '-p', modules.tsconfig, '--noEmit', '--pretty', 'false'],
    { cwd: project, encoding: 'utf8' },
  );
  const found: string[] = [];
  for (const line of stdout.split('\n')) {
    const [, file, row, message] = /^(.+?)\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    const hit = written.find((entry) => file !== undefined && basename(entry.file) === basename(file));
    if (hit !== undefined) found.push(`${hit.block.page}:${hit.block.line + Number(row) - 1 - hit.offset}: ${message}`);
  }
  if (status !== 0 && status !== 1 && status !== 2) throw new Error(`tsc: ${stdout}${stderr}`);
  // A configuration that it can't read makes the compiler find nothing at all.
  if (/^error TS/m.test(stdout)) throw new Error(stdout);
  return found;
}
