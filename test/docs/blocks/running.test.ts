import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { SidecarProcess } from '../../integration/agent/sidecar-process.js';
import { needs } from '../../support/tools.js';
import { project } from '../markdown.js';
import { CHECKS, checked } from './checks.js';
import { at } from './claims.js';
import { COMMAND_EXAMPLES } from './command-examples.js';
import { lines, runCommand } from './run-commands.js';
import { programsOfOthers, runProgramOf, toolOf } from './run-programs.js';
import { programs, runProgram, runScene, scenes } from './run-typescript.js';
import { knownPages, runStart, scriptOf, scriptPages, starts, toolsOf } from './scripts.js';
import { Modules } from './typescript.js';
import { World } from './world.js';

/* What the pages show is run, on servers that all of it shares. */

const world = new World();
const modules = new Modules();
/** For programs in other languages: each in an election of its own. */
let sidecar: SidecarProcess;

beforeAll(async () => {
  sidecar = await world.sidecar(['--session-timeout', '4s']);
}, 120_000);

afterAll(async () => {
  modules[Symbol.dispose]();
  await sidecar?.kill();
  await world.close();
}, 60_000);

const named = <T extends { block: Parameters<typeof at>[0] }>(claimed: readonly T[]) =>
  claimed.map((each) => [at(each.block), each] as const);

describe('What the pages show', { concurrent: true, timeout: 240_000 }, () => {
  for (const [name, each] of named(programs)) {
    it(`${name}: TypeScript that ends by itself`, async () => {
      expect(await runProgram(world, modules, each)).not.toBe('');
    });
  }

  for (const [name, each] of named(scenes)) {
    it(`${name}: TypeScript that does what the page says`, async () => {
      expect(await runScene(world, modules, each)).toContain('as the page says');
    });
  }

  for (const [name, each] of named(programsOfOthers)) {
    it(`${name}: ${each.block.language}, which leads`, async (context: TestContext) => {
      needs(context, toolOf(each.block.language));
      const election = `"pages/${name.replaceAll(/\W/g, '-')}"`;
      const place = await world.place({ sidecar: sidecar.url, names: [[/"settlement"/g, election]] });
      expect(await runProgramOf(place, each)).toMatch(/settles with token [1-9][0-9]*\n/);
    });
  }

  for (const page of scriptPages) {
    it(`${page}: a script`, async (context: TestContext) => {
      needs(context, ...toolsOf(page));
      expect((await scriptOf(world, page)).code).toBe(0);
    });
  }

  for (const [name, each] of named(starts)) {
    it(`${name}: goes on until it is stopped`, async () => {
      // By TERM, in good order.
      expect([0, -1, 143]).toContain((await runStart(world, each)).code);
    });
  }

  for (const line of lines) {
    const example = COMMAND_EXAMPLES[line];
    if (example === undefined || 'notRun' in example) continue;
    it(line, async (context: TestContext) => {
      if (line.includes('jq ')) needs(context, 'jq');
      const { code, out, all } = await runCommand(world, line, example);
      expect(out, all).toMatch(example.says);
      if (!example.forEver) expect(code, all).toBe(example.code ?? 0);
    });
  }

  for (const [name, { block, claim }] of named(checked)) {
    const check = CHECKS[claim.by];
    if (check === undefined) continue;
    it(`${name}: ${claim.by}`, async (context: TestContext) => {
      needs(context, ...check.tools);
      await expect(check.run(block, world)).resolves.toBeUndefined();
    });
  }
});

describe('What the tables know', () => {
  it('is what the pages have: scripts, command lines, scenes, checks', () => {
    expect([...knownPages].sort()).toEqual([...scriptPages].sort());
    expect([...lines].sort()).toEqual(Object.keys(COMMAND_EXAMPLES).sort());
    // Besides, there are what several scenes begin with.
    const shown = [...new Set(scenes.map(({ claim }) => `${claim.scene}.ts`)), 'election.ts', 'place.ts', 'term.ts'];
    expect(readdirSync(join(project, 'test/docs/scenes')).sort()).toEqual(shown.sort());
    expect([...new Set(checked.map(({ claim }) => claim.by))].sort()).toEqual(Object.keys(CHECKS).sort());
  });
});
