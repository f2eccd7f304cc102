import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ensemble, onExit, startEnsemble } from '../../../deploy/local/index.js';
import { goProgram, javaClasses } from '../../../deploy/local/toolchains/index.js';
import { project } from '../../docs/markdown.js';
import { findTool, missing, type Tool } from '../../support/tools.js';
import { SidecarProcess } from '../agent/sidecar-process.js';
import type { Command } from './languages.js';

/* What the pages show, pasted: the first program of each leads. */

let ensemble: Ensemble;
let sidecar: SidecarProcess;
// Inside of the project, for the Go module that it refers to; ignored by git.
mkdirSync(join(project, '.cache'), { recursive: true });
const folder = mkdtempSync(join(project, '.cache', 'pages-'));

beforeAll(async () => {
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
  sidecar = await SidecarProcess.start(ensemble.connectString, { args: ['--session-timeout', '4s'] });
  await sidecar.ready();
}, 120_000);

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await sidecar?.kill();
  await ensemble?.close();
});

function program(page: string, language: string): string {
  const text = readFileSync(join(project, page), 'utf8');
  const code = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(text)?.[1];
  if (code === undefined) throw new Error('the page shows no program');
  return code;
}

type Make = (code: string) => Promise<Command>;

const python: Make = async (code) => {
  const file = join(folder, 'page.py');
  writeFileSync(file, code);
  const env = { PYTHONPATH: join(project, 'clients/python') };
  return { file: findTool('python3') ?? 'python3', args: [file], cwd: folder, env };
};

const go: Make = async (code) => {
  writeFileSync(join(folder, 'main.go'), code);
  const client = join(project, 'clients/go');
  const lines = [
    'module page',
    'go 1.21',
    'require tenure/clients/go v0.0.0',
    `replace tenure/clients/go => ${client}`,
  ];
  writeFileSync(join(folder, 'go.mod'), `${lines.join('\n')}\n`);
  return { file: await goProgram(folder), args: [], cwd: folder };
};

const java: Make = async (code) => {
  const sources = join(folder, 'java');
  mkdirSync(sources, { recursive: true });
  writeFileSync(join(sources, 'Worker.java'), code);
  const path = await javaClasses([sources, join(project, 'clients/java/src/main/java')]);
  return { file: 'java', args: ['-cp', path, 'Worker'], cwd: folder };
};

const languages: { name: string; tag: string; tool: Tool; make: Make }[] = [
  { name: 'Python', tag: 'python', tool: 'python3', make: python },
  { name: 'Go', tag: 'go', tool: 'go', make: go },
  { name: 'Java', tag: 'java', tool: 'javac', make: java },
];

describe('what a page shows leads when it is pasted', () => {
  for (const { name, tag, tool, make } of languages) {
    const absent = missing(tool);
    const skipped = absent !== undefined && !process.env['TENURE_REQUIRE_ALL'];
    const title = `${name}, %s${skipped ? ` (${absent})` : ''}`;
    const pages = ['README.md', `clients/${tag}/README.md`];
    test.skipIf(skipped).each(pages)(title, { timeout: 240_000 }, async (page) => {
      const { file, args, cwd, env } = await make(program(page, tag));
      const child = spawn(file, [...args], { cwd, env: { ...process.env, ...env, TENURE_URL: sidecar.url } });
      const forget = onExit(() => child.kill('SIGKILL'));
      const gone = new Promise((resolve) => child.once('close', resolve));
      let log = '';
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          log += `${line}\n`;
          if (/settles with token/.test(line)) child.kill('SIGKILL');
        });
      }
      await gone;
      forget();
      expect(log).toMatch(/settles with token [1-9][0-9]*\n/);
    });
  }
});
