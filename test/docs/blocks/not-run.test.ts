import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCommand } from '../../../deploy/local/process.js';
import { outcome } from '../../support/tools.js';
import { at, claimedBy } from './claims.js';
import { wrongWith } from './not-run.js';
import { simpleCommands } from './words.js';

/* Shell blocks that can't be run here: their syntax, and all that is known of their commands. */

async function wrong(script: string): Promise<string[]> {
  const syntax = await outcome('bash', ['-n', '-c', script]);
  if (syntax.code !== 0) return [syntax.all];
  const found: string[] = [];
  let folder = '';
  for (const command of simpleCommands(script)) {
    found.push(...(await wrongWith(command, folder)));
    if (command[0] === 'cd') folder = join(folder, command[1] ?? '');
  }
  return found;
}

/** What shellcheck says of these scripts, by the names that they are given: all at once, as it starts slowly. */
async function linted(scripts: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tenure-shellcheck-'));
  try {
    const files = Object.entries(scripts).map(([name, script]) => {
      const file = join(folder, name.replaceAll('/', '_'));
      writeFileSync(file, script);
      return file;
    });
    // No first line, as in a terminal, where a `cd` that fails is seen.
    const words = ['-c', 'exec shellcheck "$@"', 'shellcheck', '-s', 'bash', '-f', 'gcc', '-e', 'SC2148,SC2164'];
    const { all } = await outcome('bash', [...words, ...files]);
    return all
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(`${folder}/`, ''));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const blocks = claimedBy('not run', ['sh']);
const shells = (['run', 'run until', 'run one by one', 'not run'] as const)
  .flatMap((how) => claimedBy(how, ['sh']))
  .toSorted((a, b) => a.block.line - b.block.line);

describe('Shell blocks that are not run', () => {
  it.each(blocks.map((each) => [at(each.block), each.block] as const))(
    '%s: nothing is wrong with',
    async (_, block) => {
      expect(await wrong(block.code)).toEqual([]);
    },
  );

  it('have mistakes found where they are', async () => {
    expect(await wrong('if make\n')).toEqual([expect.stringMatching(/syntax error/)]);
    for (const [script, mistake] of [
      ['make tea', /No rule to make target 'tea'/],
      ['npm run teatime', /npm run teatime/],
      ['npm install ./tenure-9.9.9.tgz', /9\.9\.9/],
      ['npx tsx deploy/local/up.ts --postgras', /no option --postgras/],
      ['npx vitest run test/nowhere', /there is no test\/nowhere/],
      ['docker build --target wurker .', /the stage wurker/],
      ['docker compose logs -f beeper', /the service beeper/],
      ['systemctl enable --now tenure-nothing', /there is no deploy\/systemd\/tenure-nothing/],
      ['frobnicate --all', /nothing is known of this command/],
      ['(cd dashboards && ./paint.sh)', /there is no dashboards\/paint\.sh/],
      ['tenure lead', /tenure lead: there are/],
      ["pip install ./clients/perl && echo 'x'", /there is no clients\/perl/],
    ] as const) {
      expect((await wrong(script)).join('\n'), script).toMatch(mistake);
    }
  });

  it.skipIf(findCommand('kubectl') === undefined)('have mistakes found in what a cluster is told', async () => {
    expect((await wrong('kubectl apply -k deploy/kubernetes/nowhere')).join()).toMatch(/nowhere/);
    expect((await wrong('kubectl create namespaze tenure')).join()).toMatch(/namespaze/);
  });
});

describe.skipIf(findCommand('shellcheck') === undefined)('shellcheck', () => {
  it('has nothing to say of the blocks of a page, one after the other', async () => {
    const pages: Record<string, string> = {};
    for (const { block } of shells) {
      // Its lines are those of the page.
      const before = (pages[block.page] ?? '').split('\n');
      const gap = '\n'.repeat(Math.max(0, block.line - before.length));
      pages[block.page] = `${before.join('\n')}${gap}${block.code}`;
    }
    expect(await linted(pages)).toEqual([]);
  });

  it('has where there is', async () => {
    expect(await linted({ 'x.md': '\nls $1\n' })).toEqual([expect.stringMatching(/^x\.md:2:.*SC2086/)]);
  });
});
