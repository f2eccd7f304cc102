import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { connect, type Tenure } from '../../../src/index.js';
import { groupsMarked, signalGroup } from '../../../src/lifeline/processes.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { CommandRun, type CommandRunOptions, runs } from '../../support/command-run.js';
import { helpersOf } from '../../support/helpers.js';
import { Operator } from '../../support/operator.js';

/*
 * However the leadership ends, nothing of the command runs when the next one starts. From the field: 13 (released while the
 * worker still runs), 17 (the shell is killed, its grandchild survives; TERM that comes too late).
 */

const T = 4_000;
const LEASE = (T * 2) / 3;

/** How many times `tenure run` is killed around the start of its command. */
const RACES = Number(process.env['TENURE_RUN_RACES'] ?? 6);

let ensemble: Ensemble;
let operator: Operator;
let tenure: Tenure;
let directory: string;
const started = new Set<CommandRun>();
/** In the environment of all commands of a test, to find what is left of them. */
let mark = '';
let elections = 0;

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 200, fsync: false });
  operator = await Operator.at(ensemble.connectString);
  tenure = await connect({ servers: ensemble.connectString, lifeline: false });
  directory = mkdtempSync(join(tmpdir(), 'tenure-run-'));
}, 120_000);

afterEach(async () => {
  for (const run of started) run.signal('SIGCONT');
  await Promise.all([...started].map((run) => run.kill()));
  started.clear();
  for (const group of groupsMarked(mark)) signalGroup(group, 'SIGKILL');
});

afterAll(async () => {
  await tenure?.close();
  await operator?.close();
  await ensemble?.close();
  if (directory !== undefined) rmSync(directory, { recursive: true });
});

function election(): string {
  elections += 1;
  mark = `TENURE_TEST=${randomUUID()}`;
  return `loss-${elections}`;
}

function start(name: string, script: string, more: Partial<CommandRunOptions> = {}): CommandRun {
  const run = new CommandRun({
    servers: ensemble.connectString,
    election: name,
    sessionTimeoutMs: T,
    command: ['sh', '-c', script],
    env: { TENURE_TEST: mark.slice('TENURE_TEST='.length) },
    ...more,
  });
  started.add(run);
  return run;
}

const pidsIn = (file: string): number[] => readFileSync(file, 'utf8').trim().split(/\s+/).map(Number);

/** A family that wants to live: nobody in it takes heed of TERM and HUP. Their pids go to a file. */
async function family(name: string): Promise<{ run: CommandRun; pids: number[]; file: string }> {
  const file = join(directory, name);
  const deaf = "trap '' TERM HUP INT";
  const run = start(
    name,
    `${deaf}; sh -c "${deaf}; while :; do sleep 1; done" & echo $! $$ > ${file}; echo ready; while :; do sleep 1; done`,
  );
  await run.says('ready');
  return { run, pids: pidsIn(file), file };
}

/** Says whether any of those runs at the moment at which it is started. */
function successor(name: string, file: string): CommandRun {
  return start(
    name,
    `for pid in $(cat ${file}); do grep -qs ') [^ZX] ' /proc/$pid/stat && echo overlap; done; echo started`,
  );
}

describe('tenure run itself', () => {
  it('is killed: the command and its children are killed at once, and only then somebody else leads, soon', async () => {
    const name = election();
    const { run, pids, file } = await family(name);
    const next = successor(name, file);
    await operator.queueOf(name, 2);
    await sleep(T / 4);
    const begin = monotonicMs();
    await run.kill();
    await next.says('started');
    expect(monotonicMs() - begin).toBeLessThan(LEASE);
    expect(next.text).toBe('started\n');
    expect(pids.filter(runs)).toEqual([]);
    expect(await next.exited).toBe(0);
    expect((await operator.record(name))?.['previous']).toMatchObject({ end: 'died' });
  });

  it('is frozen: the command is killed when the lease is over, and only then somebody else leads', async () => {
    const name = election();
    const { run, pids, file } = await family(name);
    const next = successor(name, file);
    await operator.queueOf(name, 2);
    await sleep(T / 4);
    const begin = monotonicMs();
    run.signal('SIGSTOP');
    await waitFor(() => !pids.some(runs), { what: 'the end of the command', intervalMs: 5 });
    const took = monotonicMs() - begin;
    // The last renewal was sent at most a tenth of T before.
    expect(took).toBeGreaterThan(LEASE - T / 5);
    expect(took).toBeLessThan(LEASE * 1.06);
    await next.says('started');
    expect(next.text).toBe('started\n');
    run.signal('SIGCONT');
    expect(await run.exited).toBe(123);
  });

  it('is killed after its helper: another helper has taken its place', async () => {
    const name = election();
    const { run, pids } = await family(name);
    const [first = 0] = helpersOf(run.pid);
    process.kill(first, 'SIGKILL');
    await waitFor(() => helpersOf(run.pid).some((pid) => pid !== first), { what: 'another helper' });
    await sleep(500);
    expect(pids.filter(runs)).toEqual(pids);
    await run.kill();
    await waitFor(() => !pids.some(runs), { what: 'the end of the command', timeoutMs: LEASE });
  });

  it(`is killed ${RACES} times while it starts its command: never is anything left of it`, async () => {
    const name = election();
    let caught = 0;
    for (let round = 0; round < RACES; round++) {
      const before = await operator.record(name);
      const run = start(name, 'sleep 60 & sleep 60');
      await waitFor(async () => (await operator.record(name))?.['term'] !== before?.['term'], {
        what: 'the next term',
        intervalMs: 1,
      });
      await sleep(Math.random() * 60);
      if (groupsMarked(mark).length > 1) caught += 1;
      await run.kill();
      await waitFor(() => groupsMarked(mark).length === 0, { what: 'the end of all of it', timeoutMs: LEASE });
    }
    // Some before the command ran, some after.
    process.stderr.write(`killed after the command had started in ${caught} of ${RACES} rounds\n`);
  }, 600_000);
});

describe('the leadership', () => {
  it('is paused: TERM at once, and the end is announced when the command has ended', async () => {
    const name = election();
    const run = start(name, "trap 'echo TERM; sleep 0.3; exit 0' TERM; echo ready; while :; do sleep 0.02; done");
    await run.says('ready');
    const begin = monotonicMs();
    await tenure.election(name).pause({ by: 'a test', reason: 'to see what happens' });
    await run.says('TERM');
    expect(monotonicMs() - begin).toBeLessThan(LEASE / 2);
    expect(await run.exited).toBe(123);
    expect((await operator.record(name))?.['ended']).toMatchObject({ how: 'paused' });
  });

  it('is paused, and the command takes no heed: killed when its time is over, and announced', async () => {
    const name = election();
    const run = start(name, "trap '' TERM; echo ready; while :; do sleep 0.02; done", {
      options: ['--drain-timeout', '500ms'],
    });
    await run.says('ready');
    await tenure.election(name).pause({ by: 'a test', reason: 'to see what happens' });
    expect(await run.exited).toBe(123);
    expect(run.errors).toContain('has not ended in its time');
    expect((await operator.record(name))?.['ended']).toMatchObject({ how: 'paused' });
  });

  it('is lost, as somebody deletes its znode: TERM at once, and --restart joins again', async () => {
    const name = election();
    const run = start(name, 'echo "term $TENURE_TERM"; sleep 60', {
      options: ['--restart', 'on-failure', '--restart-delay', '10ms'],
    });
    await run.says('term 1');
    const [mine] = await operator.queue(name);
    await operator.remove(`${operator.queuePath(name)}/${mine?.node}`);
    await run.says('term 2');
    expect(run.errors).toContain('node_gone');
  });

  // The last one: the servers expire everybody's sessions on the way.
  it('runs out, as no server answers: TERM while the grace is left, KILL at the end of the lease', async () => {
    const name = election();
    const run = start(name, "trap 'echo TERM' TERM; echo ready; while :; do sleep 0.02; done", {
      options: ['--grace', '1s'],
    });
    await run.says('ready');
    await sleep(T / 4);
    const begin = monotonicMs();
    for (const server of ensemble.servers) server.freeze();
    try {
      await run.says('TERM');
      const told = monotonicMs() - begin;
      await waitFor(() => groupsMarked(mark).length === 1, {
        what: 'the end of the command',
        intervalMs: 5,
      });
      const killed = monotonicMs() - begin;
      expect(told).toBeGreaterThan(LEASE - 1_000 - T / 5);
      expect(killed).toBeLessThan(LEASE * 1.06);
      expect(killed - told).toBeGreaterThan(500);
    } finally {
      for (const server of ensemble.servers) server.thaw();
    }
    expect(await run.exited).toBe(123);
  });
});
