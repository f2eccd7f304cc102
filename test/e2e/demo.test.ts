import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Run {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

function demo(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const command = ['--import', 'tsx', 'examples/settlement/demo.ts', ...args];
  return new Promise((resolve) => {
    // Ended before the test is given up, so that it can end its servers.
    const options = { cwd: root, env: { ...process.env, ...env }, timeout: 115_000 };
    execFile(process.execPath, command, options, (error, output, errors) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, output, errors });
    });
  });
}

describe('the settlement demo', () => {
  it('lives through everything with all invariants held', { timeout: 120_000 }, async () => {
    const { code, output } = await demo(['--fast']);
    expect(output).toMatch(/All \d+ invariants hold/);
    expect(output).not.toContain('FAILED');
    expect(output).not.toContain('\u001b');
    for (const line of [
      /status page of a sidecar is at http:\/\/127\.0\.0\.1:\d+/,
      /worker-\d leads: term 1, token \d+/,
      /SIGKILL for worker-\d/,
      /SIGSTOP, right before the write/,
      /worker-\d finds batch [\d:]+ begun by worker-\d, and settles it/,
      /worker-\d is refused by the fence: token \d+ is below \d+/,
      /server \d leads the ensemble after/,
      /worker-\d is suspect \(connection lost\)/,
      /nobody has led, and nothing was settled/,
      /term \d+ is over \(resigned\)/,
      /^settled batches +\d+, /m,
      /^ok +the books balance$/m,
    ]) {
      expect(output).toMatch(line);
    }
    expect(code).toBe(0);
  });

  it('notices, and says, when the fence does nothing', { timeout: 120_000 }, async () => {
    const { code, output } = await demo(['--fast'], { TENURE_DEMO_SABOTAGE: 'no-fence' });
    expect(code).toBe(1);
    expect(output).toMatch(/^FAILED +each batch is settled exactly once/m);
    expect(output).toMatch(/batch [\d:]+ was settled 2 times/);
    expect(output).toMatch(/^FAILED +after a higher token no lower one was accepted/m);
    expect(output).toMatch(/^FAILED +a stale leader tried to write, and was refused/m);
    expect(output).toMatch(/^FAILED +the books balance/m);
    const logs = /logs of workers and servers are in (\S+)/.exec(output)?.[1];
    expect(logs).toBeDefined();
    rmSync(String(logs), { recursive: true });
  });

  it('refuses an unknown option, and tells which there are', async () => {
    const wrong = await demo(['--quick']);
    expect(wrong).toMatchObject({ code: 2, output: '' });
    expect(wrong.errors).toContain("Unknown option '--quick'");
    const help = await demo(['--help']);
    expect(help.code).toBe(0);
    expect(help.output).toContain('--fast');
  });

  it('says in one line what has to be installed', async () => {
    const { code, errors } = await demo(['--fast'], { PATH: '/nonexistent', JAVA_HOME: '' });
    expect(code).toBe(1);
    expect(errors).toMatch(/^.*java.*install.*\n$/i);
  });
});
