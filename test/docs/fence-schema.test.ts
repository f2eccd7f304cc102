import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fenceSchema } from '../../src/fencing/postgres.js';
import { project } from './markdown.js';

it('examples/README.md: the command that prints the SQL of the fence', { timeout: 60_000 }, () => {
  const page = readFileSync(`${project}examples/README.md`, 'utf8');
  const [, command = ''] = /^(.*fenceSchema.*) \| psql/m.exec(page) ?? [];
  expect(execFileSync('bash', ['-c', command], { cwd: project, encoding: 'utf8' })).toBe(`${fenceSchema()}\n`);
});
