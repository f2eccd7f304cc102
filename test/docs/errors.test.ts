import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as errors from '../../src/errors.js';
import { CoordinatorError, type CoordinatorErrorKind, type LossReason, TenureError } from '../../src/errors.js';
import * as fencingErrors from '../../src/fencing/errors.js';
import { project } from './markdown.js';

type ErrorClass = new (...parameters: unknown[]) => TenureError;

const page = readFileSync(`${project}docs/errors.md`, 'utf8');

/** The cells, without backquotes, of the row of `width` cells whose first one is this name. */
function row(name: string, width: number): string[] {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith(`| \`${name}\` |`))
    .map((line) => line.split('|').slice(1, -1))
    .filter((cells) => cells.length === width);
  return (rows[0] ?? []).map((cell) => cell.trim().replaceAll('`', ''));
}

function isErrorClass(value: unknown): value is ErrorClass {
  return typeof value === 'function' && value.prototype instanceof TenureError;
}

const classes = Object.entries<unknown>({ ...errors, ...fencingErrors }).filter(
  (entry): entry is [string, ErrorClass] => isErrorClass(entry[1]),
);

/** All of them: the compiler sees to that. */
const KINDS: Readonly<Record<CoordinatorErrorKind, true>> = {
  no_node: true,
  node_exists: true,
  bad_version: true,
  not_empty: true,
  no_children_for_ephemerals: true,
  connection_lost: true,
  operation_timeout: true,
  session_expired: true,
  session_closed: true,
  no_auth: true,
  auth_failed: true,
  invalid_argument: true,
  too_large: true,
  quota_exceeded: true,
  inexact_integer: true,
  unknown: true,
};

const REASONS: Readonly<Record<LossReason, true>> = {
  lease_expired: true,
  session_expired: true,
  session_node_gone: true,
  node_gone: true,
  superseded: true,
  resigned: true,
  paused: true,
  transferred: true,
  held: true,
  closed: true,
};

describe('docs/errors.md', () => {
  it('has error classes to check', () => {
    expect(classes.length).toBeGreaterThan(20);
  });

  it.each(classes)('%s: its code, and whether it is retriable', (name, Class) => {
    const error = new Class('text', 'text', 'text');
    const [, code, retriable, when, cure] = row(name, 5);
    expect(code).toBe(error.code);
    expect(retriable).toBe(Class === (CoordinatorError as unknown) ? 'by kind' : error.retriable ? 'yes' : 'no');
    expect(when).toMatch(/\w{3}/);
    expect(cure).toMatch(/\w{3}/);
  });

  it.each(Object.keys(KINDS) as CoordinatorErrorKind[])('kind %s of CoordinatorError', (kind) => {
    const [, retriable] = row(kind, 4);
    expect(retriable).toBe(new CoordinatorError(kind, 'read', '/').retriable ? 'yes' : 'no');
  });

  it.each(Object.keys(REASONS))('reason %s of LeadershipLostError', (reason) => {
    expect(page).toContain(`\`${reason}\``);
  });

  it('names no class that does not exist', () => {
    const known = new Set(classes.map(([name]) => name));
    const named = [...page.matchAll(/^\| `(\w+Error)` \|/gm)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(named.length).toBe(new Set(named).size);
  });
});
