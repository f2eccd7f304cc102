import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble } from '../../deploy/local/index.js';
import { stagePackage } from '../../deploy/package/stage.js';

const ROOT = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/**
 * No install script runs, as with npm 12 where nobody has allowed any: the driver that compiles is not there, and our own serves.
 * What is cached is not fetched again. npm's settings of a script that it runs itself must not reach it.
 */
const QUIET = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|config_prefix)/.test(name)),
);

const folder = mkdtempSync(join(tmpdir(), 'tenure-install-'));
let tarball: string;
let ensemble: Ensemble;

async function run(command: string, args: readonly string[], cwd = folder): Promise<{ out: string; err: string }> {
  const { stdout, stderr } = await promisify(execFile)(command, [...args], { cwd, env, timeout: 240_000 });
  return { out: stdout, err: stderr };
}

beforeAll(async () => {
  const staged = join(folder, 'staged');
  await stagePackage(staged);
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: staged, stdio: 'pipe' });
  tarball = join(folder, JSON.parse(packed.toString())[0].filename);
  ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
}, 240_000);

afterAll(async () => {
  await ensemble?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the command `tenure`', () => {
  it('works from a global install, and without a compiler', async () => {
    const prefix = join(folder, 'global');
    await run('npm', ['install', '--global', `--prefix=${prefix}`, ...QUIET, tarball]);
    const tenure = join(prefix, 'bin', 'tenure');
    expect((await run(tenure, ['--version'])).out).toContain(version);
    expect((await run(tenure, ['--help'])).out).toMatch(/^Usage: tenure COMMAND/m);
    // The native driver is missing, and the other one serves: who looks isn't bothered with it, who leads is told once.
    const { out, err } = await run(tenure, ['status', '--servers', ensemble.connectString, '--json']);
    expect(() => JSON.parse(out)).not.toThrow();
    expect(err).toBe('');
    const leading = ['run', '--servers', ensemble.connectString, '--election', 'packaging', '--', 'true'];
    expect((await run(tenure, leading)).err).toMatch(/^tenure: warn: the driver is 'wire', as .* \(driver=wire\)\n$/);
  }, 300_000);

  it('works through npx', async () => {
    const args = ['--yes', ...QUIET, `--package=${tarball}`, '--', 'tenure', '--version'];
    expect((await run('npx', args)).out).toContain(version);
  }, 300_000);
});
