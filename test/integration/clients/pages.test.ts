import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ensemble, onExit, startEnsemble } from '../../../deploy/local/index.js';
import { project } from '../../docs/markdown.js';
import { goProgram, javaClasses } from '../../support/toolchains.js';
import { findTool, missing, type Tool } from '../../support/tools.js';
import { SidecarProcess } from '../agent/sidecar-process.js';
import type { Command } from './languages.js';

/* What the clients' pages show, pasted: each first program of a page leads. */

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

function program(language: 'python' | 'go' | 'java'): string {
  const page = readFileSync(join(project, 'clients', language, 'README.md'), 'utf8');
  const code = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1];
  if (code === undefined) throw new Error('the page shows no program');
  return code;
}

const python = async (): Promise<Command> => {
  const file = join(folder, 'page.py');
  writeFileSync(file, program('python'));
  const env = { PYTHONPATH: join(project, 'clients/python') };
  return { file: findTool('python3') ?? 'python3', args: [file], cwd: folder, env };
};

const go = async (): Promise<Command> => {
  writeFileSync(join(folder, 'main.go'), program('go'));
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

const java = async (): Promise<Command> => {
  const sources = join(folder, 'java');
  mkdirSync(sources);
  writeFileSync(join(sources, 'Worker.java'), program('java'));
  const path = await javaClasses([sources, join(project, 'clients/java/src/main/java')]);
  return { file: 'java', args: ['-cp', path, 'Worker'], cwd: folder };
};

const pages: { name: string; tool: Tool; make: () => Promise<Command> }[] = [
  { name: 'Python', tool: 'python3', make: python },
  { name: 'Go', tool: 'go', make: go },
  { name: 'Java', tool: 'javac', make: java },
];

describe('what a page shows leads when it is pasted', () => {
  for (const { name, tool, make } of pages) {
    const absent = missing(tool);
    const skipped = absent !== undefined && !process.env['TENURE_REQUIRE_ALL'];
    test.skipIf(skipped)(`${name}${skipped ? ` (${absent})` : ''}`, { timeout: 240_000 }, async () => {
      const { file, args, cwd, env } = await make();
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
