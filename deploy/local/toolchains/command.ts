import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MissingToolError } from '../missing-tool.js';
import { findCommand } from '../process.js';

/** What the toolchains take that has to be installed, by the command's name, and Debian's package of it. */
const DEBIAN = {
  python3: 'python3 python3-venv',
  java: 'default-jdk-headless',
  javac: 'default-jdk-headless',
  mvn: 'maven',
  go: 'golang-go',
} as const;

type Command = keyof typeof DEBIAN;

/** Where they are besides PATH: where Go's own archive puts it, and what Java's users set. */
const places = (): string[] => {
  const home = process.env['JAVA_HOME'];
  return ['/usr/local/go/bin', ...(home ? [`${home}/bin`] : [])];
};

/**
 * @returns the full path
 * @throws {MissingToolError}
 */
export function command(name: Command): string {
  const path = findCommand(name, places());
  if (path === undefined) throw new MissingToolError(`no ${name} found (Debian: apt-get install ${DEBIAN[name]})`);
  return path;
}

/** Runs a tool to its end, and returns all that it wrote. An error says what was attempted, and how it ended. */
export async function runTool(
  what: string,
  file: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const options = { maxBuffer: 1 << 26, env: { ...process.env, ...env }, ...(cwd === undefined ? {} : { cwd }) };
  try {
    const { stdout, stderr } = await promisify(execFile)(file, [...args], options);
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
    const said = (stdout + stderr).trim().split('\n').slice(-40).join('\n');
    throw new Error(`${what} failed: ${said || message}`, { cause: error });
  }
}
