import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';
import { MissingToolError } from '../../deploy/local/index.js';
import { findCommand } from '../../deploy/local/process.js';

/** Debian's package of each command that tests run and the project doesn't bring along. */
const PACKAGES = {
  promtool: 'prometheus',
  prometheus: 'prometheus',
  amtool: 'prometheus-alertmanager',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  jsonnet: 'jsonnet',
  'systemd-analyze': 'systemd',
  python3: 'python3-venv',
  go: 'golang-go',
  javac: 'default-jdk-headless',
  mvn: 'maven',
  openssl: 'openssl',
  curl: 'curl',
  jq: 'jq',
  psql: 'postgresql-client',
} as const;

export type Tool = keyof typeof PACKAGES;

/** The full path of a command, or undefined where it isn't installed. */
export function findTool(tool: Tool): string | undefined {
  // Where Go's own archive puts it, which isn't everybody's PATH.
  return findCommand(tool, tool === 'go' ? ['/usr/local/go/bin'] : []);
}

/** Skips the test, saying why, where a command isn't installed. With TENURE_REQUIRE_ALL=1 it fails instead. */
export function needs(context: TestContext, ...tools: Tool[]): void {
  for (const tool of tools) {
    if (findTool(tool)) continue;
    const reason = `no ${tool} found (Debian: apt-get install ${PACKAGES[tool]})`;
    if (process.env['TENURE_REQUIRE_ALL']) throw new MissingToolError(reason);
    context.skip(reason);
  }
}

/** Why something that takes these commands can't run; undefined where it can. For what is decided before any test begins. */
export function missing(...tools: Tool[]): string | undefined {
  const absent = tools.find((tool) => !findTool(tool));
  return absent && `no ${absent} found (Debian: apt-get install ${PACKAGES[absent]})`;
}

export interface Outcome {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard output and error. */
  readonly all: string;
}

/** Runs a command to its end, whatever that is. */
export async function outcome(tool: Tool | 'bash', args: readonly string[], cwd?: string): Promise<Outcome> {
  const options = { timeout: 60_000, maxBuffer: 2 ** 26, ...(cwd === undefined ? {} : { cwd }) };
  try {
    const { stdout, stderr } = await promisify(execFile)(tool, [...args], options);
    return { code: 0, out: stdout, all: stdout + stderr };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { code, out: stdout, all: stdout + stderr };
  }
}

/** Runs a command that must succeed, and returns what it wrote. */
export async function output(tool: Tool | 'bash', args: readonly string[], cwd?: string): Promise<string> {
  const { code, out, all } = await outcome(tool, args, cwd);
  if (code !== 0) throw new Error(`${tool} ${args.join(' ')}: code ${code}\n${all}`);
  return out;
}
