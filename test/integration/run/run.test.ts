import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { compileSource } from '../../../bench/compiled.js';
import { type Ensemble, leasePort, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { findCommand } from '../../../deploy/local/process.js';
import { CommandRun, type CommandRunOptions, runs } from '../../support/command-run.js';
import { Operator } from '../../support/operator.js';

let ensemble: Ensemble;
let operator: Operator;
let directory: string;
const started = new Set<CommandRun>();
let elections = 0;

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 200, fsync: false });
  operator = await Operator.at(ensemble.connectString);
  directory = mkdtempSync(join(tmpdir(), 'tenure-run-'));
}, 120_000);

afterEach(async () => {
  await Promise.all([...started].map((run) => run.kill()));
  started.clear();
});

afterAll(async () => {
  await operator?.close();
  await ensemble?.close();
  if (directory !== undefined) rmSync(directory, { recursive: true });
});

function election(): string {
  elections += 1;
  return `run-${elections}`;
}

function start(name: string, command: readonly string[], more: Partial<CommandRunOptions> = {}): CommandRun {
  const run = new CommandRun({ servers: ensemble.connectString, election: name, command, ...more });
  started.add(run);
  return run;
}

const shell = (script: string): string[] => ['sh', '-c', script];

describe('a command that ends', () => {
  it('gets token, term, election and id, hands on its exit code, and the leadership is free at once', async () => {
    const name = election();
    const run = start(name, shell('echo "$TENURE_TOKEN $TENURE_TERM $TENURE_ELECTION $TENURE_LEADER_ID"; exit 17'), {
      options: ['--id', 'worker 1'],
    });
    expect(await run.exited).toBe(17);
    const record = await operator.record(name);
    expect(run.text).toBe(`${record?.['token']} 1 ${name} worker 1\n`);
    expect(record?.['ended']).toMatchObject({ how: 'resigned' });
    expect(await operator.queue(name)).toEqual([]);
    expect(run.errors).toBe('');
  });

  it('has input and output untouched, however slowly they are read', async () => {
    const input = randomBytes(3_000_000);
    const run = start(election(), shell('cat; echo done >&2'), { input });
    expect(await run.exited).toBe(0);
    await waitFor(() => run.output.length === input.length, { what: 'all of the output' });
    expect(run.output.equals(input)).toBe(true);
    expect(run.errors).toBe('done\n');
  });

  it.each([
    ['no such command', 127, ['no-such-command-anywhere']],
    ['no such file', 127, ['./no/such/file']],
    ['a file that is not executable', 126, ['/etc/passwd']],
    ['a directory', 126, ['/etc']],
  ])('%s: code %d, and it never stood in the queue', async (_what, code, command) => {
    const name = election();
    const run = start(name, command);
    expect(await run.exited).toBe(code);
    expect(run.errors).toMatch(/^tenure: .*COMMAND_NOT_/);
    expect(await operator.record(name)).toBeNull();
  });

  it('an interpreter that is missing: code 126, and the leadership is free again', async () => {
    const name = election();
    const script = join(directory, 'script');
    writeFileSync(script, '#!/no/such/interpreter\n');
    chmodSync(script, 0o755);
    const run = start(name, [script]);
    expect(await run.exited).toBe(126);
    expect(run.errors).toContain('its interpreter is missing');
    expect((await operator.record(name))?.['ended']).toMatchObject({ how: 'resigned' });
  });

  it.each([
    ['no server answers', ['--servers', '127.0.0.1:1', '--connect-timeout', '300ms'], 125, 'CONNECT_TIMEOUT'],
    ['the grace is longer than the lease', ['--grace', '20s'], 2, 'at most'],
    ['there is no such policy', ['--restart', 'sometimes'], 2, 'must be one of'],
  ])('%s: nothing is started', async (_what, options, code, says) => {
    const name = election();
    const servers = options.includes('--servers') ? null : ensemble.connectString;
    const run = start(name, shell('echo started'), { options, servers });
    expect(await run.exited).toBe(code);
    expect(run.errors).toContain(says);
    expect(run.text).toBe('');
  });

  it('leaves processes behind: they are gone before the leadership is given up', async () => {
    const name = election();
    const note = join(directory, name);
    const run = start(name, shell(`sleep 60 & echo $! > ${note}; trap '' TERM; exit 0`));
    expect(await run.exited).toBe(0);
    expect(runs(Number(readFileSync(note, 'utf8')))).toBe(false);
    expect(run.errors).toContain('left processes behind');
  });
});

describe('signals', () => {
  it.each(['TERM', 'INT', 'HUP', 'QUIT', 'USR1', 'USR2'] as const)(
    'SIG%s reaches the command, once',
    async (signal) => {
      const run = start(
        election(),
        shell(`trap 'echo got' ${signal}; echo ready; i=0; while [ $i -lt 8 ]; do sleep 0.1; i=$((i+1)); done; exit 3`),
      );
      await run.says('ready');
      run.signal(`SIG${signal}`);
      expect(await run.exited).toBe(3);
      expect(run.text).toBe('ready\ngot\n');
    },
  );

  it('a command that a signal ends: 128 and its number', async () => {
    const run = start(election(), shell('echo ready; sleep 60'));
    await run.says('ready');
    run.signal('SIGTERM');
    expect(await run.exited).toBe(143);
  });

  it('while waiting: gives up its place and ends', async () => {
    const name = election();
    const leads = start(name, shell('echo ready; sleep 60'));
    await leads.says('ready');
    const waits = start(name, shell('echo never'));
    await operator.queueOf(name, 2);
    waits.signal('SIGTERM');
    expect(await waits.exited).toBe(143);
    expect(waits.text).toBe('');
    await operator.queueOf(name, 1);
  });
});

describe('waiting', () => {
  it('--no-wait and --wait-timeout give up with a code of their own', async () => {
    const name = election();
    const leads = start(name, shell('echo ready; sleep 60'));
    await leads.says('ready');
    const runs = [
      start(name, ['true'], { options: ['--no-wait'] }),
      start(name, ['true'], { options: ['-n', '-E', '9'] }),
      start(name, ['true'], { options: ['--wait-timeout', '300ms'] }),
    ];
    expect(await Promise.all(runs.map((run) => run.exited))).toEqual([122, 9, 122]);
    await operator.queueOf(name, 1);
  });

  it('one after the other, never two at a time, with tokens that rise', async () => {
    const name = election();
    const log = join(directory, name);
    const script = `echo "+ $TENURE_TOKEN" >> ${log}; sleep 0.1; echo "- $TENURE_TOKEN" >> ${log}`;
    await Promise.all(Array.from({ length: 4 }, () => start(name, shell(script)).exited));
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    const tokens = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(2));
    expect(lines).toEqual(tokens.flatMap((token) => [`+ ${token}`, `- ${token}`]));
    expect(tokens).toHaveLength(4);
    expect(tokens.map(BigInt)).toEqual(tokens.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1)));
  });
});

describe('--restart', () => {
  it.each([
    ['on-failure', 'exit $(( TENURE_TERM < 3 ))', 0, 3],
    ['never', 'exit 5', 5, 1],
  ])('%s', async (policy, script, code, terms) => {
    const name = election();
    const run = start(name, shell(script), { options: ['--restart', policy, '--restart-delay', '10ms'] });
    expect(await run.exited).toBe(code);
    expect((await operator.record(name))?.['term']).toBe(terms);
  });

  it('always, until it is told to stop', async () => {
    const name = election();
    const run = start(name, shell('echo "term $TENURE_TERM"; [ "$TENURE_TERM" -lt 3 ] || sleep 60'), {
      options: ['--restart', 'always', '--restart-delay', '10ms'],
    });
    await run.says('term 3');
    run.signal('SIGTERM');
    expect(await run.exited).toBe(143);
  });
});

it('--health-port answers 503 while it waits and 200 while the command runs', async () => {
  const name = election();
  const { port, release } = await leasePort();
  release();
  const first = start(name, shell('echo ready; sleep 60'));
  await first.says('ready');
  start(name, shell('sleep 60'), { options: ['--health-port', `127.0.0.1:${port}`] });
  await operator.queueOf(name, 2);
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, ...((await response.json()) as { state: string; token?: string }) };
  };
  await waitFor(async () => (await ask('/leader')).state === 'waiting', { what: 'waiting' });
  expect(await ask('/leader')).toMatchObject({ status: 503 });
  expect(await ask('/healthz')).toMatchObject({ status: 200, state: 'waiting' });
  first.signal('SIGTERM');
  await waitFor(async () => (await ask('/leader')).status === 200, { what: 'leading' });
  expect(await ask('/leader')).toMatchObject({
    state: 'leading',
    election: name,
    token: (await operator.record(name))?.['token'],
  });
});

it('--health-port that is taken: code 125 at once, however long it would wait for the leadership', async () => {
  const { port, release } = await leasePort();
  release();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  const options = ['--health-port', `127.0.0.1:${port}`, '--wait-timeout', '1h'];
  const run = start(election(), shell('sleep 60'), { options });
  expect(await run.exited).toBe(125);
  expect(run.errors).toContain(String(port));
  await new Promise((resolve) => other.close(resolve));
});

/** A terminal of its own for a command line, and Ctrl-C typed at it. */
const script = findCommand('script', ['/usr/bin']);

it.skipIf(script === undefined && process.env['TENURE_REQUIRE_ALL'] !== '1')(
  'gets what is typed at the terminal once (needs script of util-linux)',
  async () => {
    const name = election();
    const main = join(compileSource(), 'cli/main.js');
    const inner = "trap 'echo got' INT; echo ready; i=0; while [ $i -lt 8 ]; do sleep 0.1; i=$((i+1)); done";
    const file = join(directory, 'typed');
    writeFileSync(file, inner);
    const line = `${process.execPath} ${main} run -e ${name} -s ${ensemble.connectString} -- sh ${file}`;
    const terminal = spawn(script ?? 'script', ['-qec', line, '/dev/null'], { stdio: 'pipe' });
    let shown = '';
    terminal.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
    });
    const over = new Promise((resolve) => terminal.once('exit', resolve));
    await waitFor(() => shown.includes('ready'), { what: 'the command to be ready' });
    terminal.stdin.write('\x03');
    await over;
    expect(shown.match(/got/g)).toHaveLength(1);
  },
);
