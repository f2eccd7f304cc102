import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Ensemble, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { connect, type Tenure, type Term } from '../../../src/index.js';
import { processStat } from '../../../src/lifeline/processes.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { runs } from '../../support/command-run.js';
import { median } from '../../support/failovers.js';
import { helpersOf } from '../../support/helpers.js';
import { Mortal, type MortalOptions } from '../../support/mortals.js';
import { Operator } from '../../support/operator.js';

/* However a process dies, its leadership passes on at once; and never while it lives. */

const T = 5_000;
const LEASE = (T * 2) / 3;

/** How often a leader is frozen and continued: 1,000 for the long form. */
const FREEZES = Number(process.env['TENURE_FREEZE_ROUNDS'] ?? 25);

let ensemble: Ensemble;
let operator: Operator;
let tenure: Tenure;
let elections = 0;
const mortals = new Set<Mortal>();
const others: number[] = [];

beforeAll(async () => {
  ensemble = await startEnsemble({ tickTime: 500, fsync: false });
  operator = await Operator.at(ensemble.connectString, { sessionTimeoutMs: 10_000 });
  tenure = await connect({ servers: ensemble.connectString, sessionTimeoutMs: T, lifeline: false });
});

afterEach(async () => {
  for (const mortal of mortals) mortal.signal('SIGCONT');
  await Promise.all([...mortals].map((mortal) => mortal.kill()));
  mortals.clear();
  for (const pid of others.splice(0)) if (runs(pid)) process.kill(pid, 'SIGKILL');
});

afterAll(async () => {
  await tenure?.close();
  await operator?.close();
  await ensemble?.close();
});

interface Scene {
  readonly name: string;
  readonly leader: Mortal;
  /** Resolves with the next term and when it began. */
  readonly next: Promise<{ term: Term; at: number }>;
}

/** A leader in a process of its own and a successor here, which has seen renewals. */
async function scene(lifeline = true, more: Partial<MortalOptions> = {}): Promise<Scene> {
  elections += 1;
  const name = `deaths-${elections}`;
  const leader = await Mortal.leads({
    servers: ensemble.connectString,
    election: name,
    id: `mortal-${elections}`,
    sessionTimeoutMs: T,
    lifeline,
    ...more,
  });
  mortals.add(leader);
  const next = tenure
    .election(name)
    .campaign()
    .then((term) => ({ term, at: monotonicMs() }));
  // Where a test doesn't wait for it, it ends with the connection.
  next.catch(() => {});
  await operator.queueOf(name, 2);
  await sleep(T / 5);
  return { name, leader, next };
}

/** From the leader's death, as told by the kernel, to the next term. */
async function failover({ leader, next }: Scene, die: () => void): Promise<{ ms: number; end: string | undefined }> {
  const died = leader.exited.then(monotonicMs);
  die();
  const { term, at } = await next;
  const ms = at - (await died);
  await term.resign();
  return { ms, end: term.previous?.end };
}

async function mark(name: string): Promise<string> {
  const session = (await operator.record(name))?.['session'];
  const found = await operator.session.read(`${operator.root}/sessions/${session}`);
  return found === null ? 'gone' : Buffer.from(found.data).toString();
}

describe('a process that dies', () => {
  it.each<[string, (leader: Mortal) => void]>([
    ['SIGKILL', (leader) => leader.signal('SIGKILL')],
    ['a segmentation fault', (leader) => leader.signal('SIGSEGV')],
    ['an exception that nobody catches', (leader) => leader.does('throw')],
    ['process.abort()', (leader) => leader.does('abort')],
    ['process.exit() without a close()', (leader) => leader.does('exit')],
  ])('%s: the successor leads without waiting, and knows why', async (_what, die) => {
    const stage = await scene();
    const { ms, end } = await failover(stage, () => die(stage.leader));
    expect(end).toBe('died');
    expect(ms).toBeLessThan(LEASE);
    // The session goes too, a little later.
    await operator.queueOf(stage.name, 0, T);
    await waitFor(async () => (await mark(stage.name)) !== '{"v":1,"ended":"died"}', {
      what: 'the end of the session',
    });
  });

  it('in the very turn in which its term began: as any other', async () => {
    const stage = await scene(true, { spins: true });
    const { ms, end } = await failover(stage, () => stage.leader.signal('SIGKILL'));
    expect(end).toBe('died');
    expect(ms).toBeLessThan(LEASE / 2);
  });

  it('at least 20 times faster than without the lifeline', async () => {
    const times = { with: [] as number[], without: [] as number[] };
    for (const lifeline of [true, false, true, true, false, true, true]) {
      const stage = await scene(lifeline);
      const { ms } = await failover(stage, () => stage.leader.signal('SIGKILL'));
      times[lifeline ? 'with' : 'without'].push(ms);
    }
    process.stderr.write(
      `T ${T} ms; with the lifeline ${times.with.map(Math.round)} ms, without ${times.without.map(Math.round)} ms\n`,
    );
    expect(median(times.without) / median(times.with)).toBeGreaterThan(20);
  }, 120_000);

  it('has a helper that a terminal or supervisor has asked to end, too: it acts all the same', async () => {
    const stage = await scene();
    const [helper = 0] = helpersOf(stage.leader.pid);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(helper, signal);
    expect(await failover(stage, () => stage.leader.signal('SIGKILL'))).toMatchObject({ end: 'died' });
    await waitFor(() => !runs(helper), { what: 'the end of the helper' });
  });

  it('together with its helper: the session timeout holds, and the successor is patient', async () => {
    const stage = await scene();
    const { ms, end } = await failover(stage, () => {
      for (const pid of helpersOf(stage.leader.pid)) process.kill(pid, 'SIGKILL');
      stage.leader.signal('SIGKILL');
    });
    expect(end).toBe('vanished');
    expect(ms).toBeGreaterThan(LEASE - T / 5);
  });

  it('and leaves a child that has inherited the pipe: nothing is known, and the session timeout holds', async () => {
    const stage = await scene();
    stage.leader.does('inherit');
    others.push(await waitFor(() => stage.leader.heir, { what: 'an heir' }));
    const { ms, end } = await failover(stage, () => stage.leader.signal('SIGKILL'));
    expect(end).toBe('vanished');
    expect(ms).toBeGreaterThan(LEASE - T / 5);
  });
});

describe('a process that lives', () => {
  it(`is frozen and continued ${FREEZES} times, while it starts children: it keeps its leadership`, async () => {
    const { name, leader } = await scene();
    leader.does('fork');
    const before = await operator.record(name);
    for (let round = 0; round < FREEZES; round++) {
      leader.signal('SIGSTOP');
      await sleep(Math.random() * 150);
      leader.signal('SIGCONT');
      await sleep(Math.random() * 50);
    }
    await sleep(T / 5);
    expect(leader.believes).toBe(true);
    expect(await mark(name)).toBe('{"v":1}');
    expect(await operator.record(name)).toEqual(before);
    await operator.queueOf(name, 2);
  }, 600_000);

  it('is frozen, or at 100 % CPU, for longer than its lease: not the lifeline ends its session', async () => {
    for (const stop of [(leader: Mortal) => leader.signal('SIGSTOP'), (leader: Mortal) => leader.does('spin')]) {
      const { name, leader, next } = await scene();
      stop(leader);
      await sleep(LEASE);
      // The ensemble hasn't expired it yet, and nobody else has ended it.
      expect(await mark(name)).toBe('{"v":1}');
      const { term } = await next;
      expect(term.previous?.end).toBe('vanished');
      await term.resign();
    }
  });

  it('has a child that has inherited the pipe, and ends: nothing happens', async () => {
    const { name, leader } = await scene();
    leader.does('inherit');
    const heir = await waitFor(() => leader.heir, { what: 'an heir' });
    process.kill(heir, 'SIGKILL');
    await sleep(T / 5);
    expect(leader.believes).toBe(true);
    expect(await mark(name)).toBe('{"v":1}');
  });

  it('closes the pipe to its helper: nothing happens until it is really dead', async () => {
    const stage = await scene();
    stage.leader.does('unplug');
    await sleep(T / 5);
    expect(stage.leader.believes).toBe(true);
    expect(await mark(stage.name)).toBe('{"v":1}');
    expect(await failover(stage, () => stage.leader.signal('SIGKILL'))).toMatchObject({ end: 'died' });
  });

  it('closes in good order: the helper says nothing, and ends', async () => {
    const { leader, next } = await scene();
    const [helper = 0] = helpersOf(leader.pid);
    leader.does('close');
    // A term that is held by hand goes unannounced.
    const { term } = await next;
    expect(term.previous?.end).toBe('vanished');
    await term.resign();
    await leader.kill();
    await waitFor(() => !runs(helper), { what: 'the end of the helper' });
  });
});

describe('the helper', () => {
  it('has a session of its own, nothing to tell in its arguments and environment, and does nothing while it waits', async () => {
    const { leader } = await scene();
    const [helper = 0] = helpersOf(leader.pid);
    const stat = processStat(helper);
    expect(stat?.group).toBe(helper);
    const password = /[0-9a-f]{32}/;
    expect(readFileSync(`/proc/${helper}/cmdline`, 'latin1')).not.toMatch(password);
    const environ = readFileSync(`/proc/${helper}/environ`, 'latin1');
    expect(environ).not.toMatch(password);
    expect(environ).not.toContain('NODE_OPTIONS');
    const ticks = () => readFileSync(`/proc/${helper}/stat`, 'latin1').split(' ').slice(13, 15).map(Number);
    // Once it has started, nothing is counted for it any more.
    await waitFor(
      async () => {
        const before = ticks();
        await sleep(1_500);
        return ticks().join() === before.join();
      },
      { what: 'a helper that is idle' },
    );
  });

  it('is one for all connections of a process', async () => {
    const [a, b] = await Promise.all([1, 2].map(() => connect({ servers: ensemble.connectString })));
    expect(helpersOf(process.pid)).toHaveLength(1);
    await Promise.all([a?.close(), b?.close()]);
  });
});
