import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { needs, outcome } from '../support/tools.js';
import { filesBelow, project, text } from './files.js';

const folder = mkdtempSync(join(tmpdir(), 'tenure-units-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const units = filesBelow('deploy/systemd').filter((path) => path.endsWith('.service'));

/** A template as one of its units. */
function instance(path: string): string {
  const copy = join(folder, basename(path).replace('@.', '@settlement.'));
  copyFileSync(join(project, path), copy);
  return copy;
}

describe.each(units)('%s', (path) => {
  it('is what systemd takes', async (context) => {
    needs(context, 'systemd-analyze');
    expect(await outcome('systemd-analyze', ['verify', '--man=no', instance(path)])).toMatchObject({
      code: 0,
      all: '',
    });
  });

  it('is shut in', async (context) => {
    needs(context, 'systemd-analyze');
    // In tenths, from 0 to 100; a service with no hardening has 96.
    const { code, all } = await outcome('systemd-analyze', [
      'security',
      '--offline=true',
      '--threshold=20',
      instance(path),
    ]);
    expect(code, all.split('\n').slice(-2).join('\n')).toBe(0);
  });

  it('tells its own process alone to stop, and shows no secret', () => {
    const unit = text(path);
    expect(unit).toMatch(/^KillMode=mixed$/m);
    expect(unit).toMatch(/^ExecStart=\/usr\/bin\/env tenure (agent|run --election %i -- )/m);
    expect(unit).not.toMatch(/^(Environment|ExecStart)=.*(PASSWORD|TOKEN|AUTH=)/m);
  });
});

it.each(['agent', 'run'])('`tenure %s` takes what its unit gives it', async (command) => {
  const { all } = await outcome('bash', ['-c', `npx tsx src/cli/main.ts ${command} --help`], project);
  const unit = units.map(text).find((one) => one.includes(`tenure ${command}`)) ?? '';
  const options = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.match(/--[a-z][a-z-]+/g) ?? [];
  const given = [...options, ...(unit.match(/\bTENURE_[A-Z_]+(?==)/g) ?? [])];
  expect(given).toContain('TENURE_SERVERS');
  for (const name of given) expect(all, name).toContain(name);
});

it('a unit with an unknown setting is refused', async (context) => {
  needs(context, 'systemd-analyze');
  const file = join(folder, 'broken.service');
  writeFileSync(file, text(units[0] ?? '').replace('KillMode=mixed', 'KillMode=softly'));
  expect((await outcome('systemd-analyze', ['verify', '--man=no', file])).all).toMatch(/softly/);
});
