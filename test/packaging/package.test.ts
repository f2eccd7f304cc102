import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stagePackage } from '../../deploy/package/stage.js';
import { COMMANDS } from '../../src/cli/commands.js';
import { commandHelp, overview } from '../../src/cli/help.js';
import { styleFor } from '../../src/cli/style.js';
import { links } from '../docs/markdown.js';
import { modulesOf } from './modules.js';

const ROOT = resolve(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
  readonly unpackedSize: number;
}

let folder: string;
let tarball: string;
let packed: Packed;
let consumer: string;

function run(command: string, args: readonly string[], cwd = ROOT): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
  }
}

const { exports: exported, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>;
  version: string;
};
const entries = Object.keys(exported)
  .filter((key) => key !== './package.json')
  .map((key) => key.replace(/^\./, 'tenure'));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenure-pack-'));
  const staged = join(folder, 'staged');
  await stagePackage(staged);
  packed = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], staged))[0];
  tarball = join(folder, packed.filename);
  // An empty project that has the package as it would be published, and what that depends on.
  consumer = join(folder, 'consumer');
  const installed = join(consumer, 'node_modules');
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xzf', tarball, '-C', folder]);
  cpSync(join(folder, 'package'), join(installed, 'tenure'), { recursive: true });
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  for (const name of [
    ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }),
    '@types/node',
    'undici-types',
  ]) {
    mkdirSync(join(installed, name, '..'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(installed, name));
  }
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }));
}, 180_000);

afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describe('the published package', () => {
  it('holds what runs and how to use it, and nothing else', () => {
    const strange = packed.files
      .map(({ path }) => path)
      .filter(
        (path) =>
          !/^(dist\/.*\.(js|d\.ts)|dist\/agent\/(openapi\.json|page\/\w+\.(mjs|css|html))|docs\/(decisions\/)?[\w-]+\.md|package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$/.test(
            path,
          ),
      );
    expect(strange).toEqual([]);
    expect(packed.files.length).toBeGreaterThan(20);
    expect(packed.unpackedSize).toBeLessThan(2_000_000);
  });

  it('holds the pages that its commands name', () => {
    const files = new Set(packed.files.map(({ path }) => path));
    const plain = { style: styleFor(false), columns: 1_000 };
    const help = [overview(COMMANDS, plain), ...COMMANDS.map((command) => commandHelp(command, plain))].join('\n');
    const named = [...help.matchAll(/docs\/[\w/-]+\.md/g)].map(([path]) => path);
    expect(named).toContain('docs/cli.md');
    expect(named.filter((path) => !files.has(path))).toEqual([]);
  });

  it('has pages whose links lead to files of its own', () => {
    const files = new Set(packed.files.map(({ path }) => path));
    const pages = [...files].filter((path) => path.endsWith('.md'));
    const found = pages.flatMap((path) =>
      links(readFileSync(join(folder, 'package', path), 'utf8')).map(({ line, target }) => ({ path, line, target })),
    );
    expect(found.length).toBeGreaterThan(50);
    const dead = found.filter(({ path, target }) => {
      const [file = ''] = decodeURI(target).split('#');
      return file !== '' && !files.has(posix.join(posix.dirname(path), file));
    });
    expect(dead).toEqual([]);
  });

  it('has nothing that publint would mend', async () => {
    const pkgDir = join(consumer, 'node_modules/tenure');
    const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it('has types that resolve however it is imported', () => {
    // It is an ES module: CommonJS gets at it by require(esm), which this rule knows nothing of.
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const args = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--no-color'];
    // It fails where it finds a problem; a line for each entry shows that it looked.
    const out = run('node', [attw, tarball, ...args]);
    for (const entry of entries) expect(out).toContain(`"${entry}"`);
  });

  it.each(['nodenext', 'bundler'])('type-checks from an empty project with moduleResolution %s', (moduleResolution) => {
    const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
    const program = `
      ${entries.map((entry, i) => `import * as entry${i} from '${entry}';`).join('\n')}
      import { connect, type Term } from 'tenure';
      export const used = [${entries.map((_, i) => `entry${i}`).join(', ')}];
      export async function work(): Promise<bigint> {
        const tenure = await connect({ servers: 'localhost' });
        return tenure.election('x').lead((term: Term): bigint => term.token);
      }
      // @ts-expect-error a token is no number
      export const wrong: (term: Term) => number = (term) => term.token;
    `;
    writeFileSync(join(consumer, 'index.ts'), program);
    const options = {
      strict: true,
      noEmit: true,
      target: 'es2023',
      lib: ['es2023', 'esnext.disposable'],
      module,
      moduleResolution,
      types: ['node'],
      exactOptionalPropertyTypes: true,
    };
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['index.ts'] }));
    run('node', [TSC, '-p', consumer], consumer);
  });

  it('brings the command, which runs as it is installed', () => {
    const { bin } = JSON.parse(readFileSync(join(consumer, 'node_modules/tenure/package.json'), 'utf8'));
    const command = join(consumer, 'node_modules/tenure', bin.tenure);
    expect(readFileSync(command, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(run('node', [command, '--version'])).toBe(`${version}\n`);
    expect(run('node', [command, 'help', 'agent'])).toContain('Usage: tenure agent');
  });

  it.each(entries)('%s can be imported, and required', (entry) => {
    const script = `import(${JSON.stringify(entry)}).then((m) => console.log(Object.keys(m).length > 0))`;
    expect(run('node', ['--input-type=module', '-e', script], consumer).trim()).toBe('true');
    const required = `console.log(Object.keys(require(${JSON.stringify(entry)})).length > 0)`;
    expect(run('node', ['--input-type=commonjs', '-e', required], consumer).trim()).toBe('true');
  });

  it('starts the helper of the lifeline from where it is installed', () => {
    const file = join(consumer, 'node_modules/tenure/dist/lifeline/lifeline.js');
    const script = `
      import { readFileSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      const { Lifeline } = await import(${JSON.stringify(pathToFileURL(file).href)});
      const lifeline = Lifeline.acquire(console.log);
      await setTimeout(1_000);
      // Still there: it has found all that it is made of.
      console.log(process.kill(lifeline.pid, 0), readFileSync('/proc/' + lifeline.pid + '/cmdline', 'utf8').split('\\0')[1]);
    `;
    const [lives, program] = run('node', ['--input-type=module', '-e', script], consumer).trim().split(' ');
    expect(lives).toBe('true');
    expect(program).toBe(realpathSync(join(consumer, 'node_modules/tenure/dist/lifeline/helper.js')));
  });

  it('the module alone loads nothing but itself and the API of OpenTelemetry', () => {
    const loaded = modulesOf('tenure', consumer);
    const packages = new Set(loaded.map((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path));
    expect([...packages].sort()).toEqual(['@opentelemetry/api', 'tenure']);
    const rooms = new Set(loaded.flatMap((path) => /\/tenure\/dist\/([a-z]+)\//.exec(path)?.[1] ?? []));
    expect(rooms).not.toContain('agent');
    expect(rooms).not.toContain('cli');
    // What the command needs is found by the same means, so that an empty list above means something.
    const telemetry = modulesOf('tenure/telemetry', consumer);
    for (const name of ['sdk-node', 'exporter-prometheus', 'pino']) {
      expect(
        telemetry.some((path) => path.includes(`/${name}/`)),
        name,
      ).toBe(true);
    }
  });

  it('importing it keeps no process alive', () => {
    expect(
      run('node', ['--input-type=module', '-e', "await import('tenure'); console.log('done')"], consumer).trim(),
    ).toBe('done');
  });
});
