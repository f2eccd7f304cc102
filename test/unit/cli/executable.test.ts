import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findExecutable } from '../../../src/cli/run/executable.js';

let directory: string;
let path: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tenure-executable-'));
  const put = (file: string, mode: number) => {
    writeFileSync(join(directory, file), '');
    chmodSync(join(directory, file), mode);
  };
  for (const name of ['first', 'second', 'second/folder']) mkdirSync(join(directory, name));
  put('first/plain', 0o644);
  put('second/plain', 0o755);
  put('second/only', 0o755);
  put('first/never', 0o644);
  path = ['', join(directory, 'absent'), join(directory, 'first'), join(directory, 'second')].join(delimiter);
});

afterAll(() => rmSync(directory, { recursive: true }));

const codeOf = (find: () => string): number | undefined => {
  try {
    find();
    return undefined;
  } catch (error) {
    return (error as { exitCode: number }).exitCode;
  }
};

describe('the command', () => {
  it('is the first in PATH that can be executed, as for a shell', () => {
    expect(findExecutable('plain', path)).toBe(join(directory, 'second/plain'));
    expect(findExecutable('only', path)).toBe(join(directory, 'second/only'));
  });

  it('with a slash is that file, and nothing in PATH', () => {
    const file = join(directory, 'second/only');
    expect(findExecutable(file, '')).toBe(file);
    expect(codeOf(() => findExecutable('./only', path))).toBe(127);
  });

  it.each([
    ['never', 126],
    ['folder', 127],
    ['absent', 127],
    ['', 127],
  ])('%j: code %d', (name, code) => {
    expect(codeOf(() => findExecutable(name, path))).toBe(code);
  });

  it('is looked for in the usual places where there is no PATH', () => {
    expect(findExecutable('sh', undefined)).toMatch(/\/bin\/sh$/);
  });
});
