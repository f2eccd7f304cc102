import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ensemble, leasePort, type PortLease, startEnsemble, waitFor } from '../../../deploy/local/index.js';
import { monotonicMs, sleep } from '../../../src/verify/monotonic.js';
import { TcpProxy } from '../../conformance/tcp-proxy.js';
import { Operator } from '../../support/operator.js';
import { missing } from '../../support/tools.js';
import { SidecarProcess } from '../agent/sidecar-process.js';
import { ClientProcess, type Said, type WorkerOptions } from './client-process.js';
import { deadlineTests } from './deadline.js';
import type { Command, Language } from './languages.js';

const DEADLINE_MS = 2_000;
/** A machine with other work on it. */
const SLACK_MS = 2_000;

/** What each client must keep, against real sidecars and a real ensemble, whatever its language. */
export function scenarios(language: Language): void {
  const absent = missing(...language.tools);
  const skipped = absent !== undefined && !process.env['TENURE_REQUIRE_ALL'];
  describe.skipIf(skipped)(`the ${language.name} client${skipped ? ` (${absent})` : ''}`, { timeout: 90_000 }, () => {
    let ensemble: Ensemble;
    let operator: Operator;
    let here: SidecarProcess;
    let there: SidecarProcess;
    let port: PortLease;
    let command: Command;
    const settings = ['--session-timeout', '4s'];
    const startHere = async () => {
      const args = [...settings, '--listen', `127.0.0.1:${port.port}`];
      return (await SidecarProcess.start(ensemble.connectString, { args })).ready();
    };

    beforeAll(async () => {
      command = await language.worker();
      ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
      port = await leasePort();
      operator = await Operator.at(ensemble.connectString, { sessionTimeoutMs: 10_000 });
      [here, there] = (await Promise.all([
        startHere(),
        SidecarProcess.start(ensemble.connectString, { args: settings }).then((sidecar) => sidecar.ready()),
      ])) as [SidecarProcess, SidecarProcess];
    }, 300_000);

    afterAll(async () => {
      await Promise.all([here?.kill(), there?.kill(), operator?.close()]);
      port?.release();
      await ensemble?.close();
    });

    let elections = 0;
    const fresh = () => `${language.name}/${++elections}`;
    const worker = (election: string, id: string, more: Partial<WorkerOptions> = {}) =>
      new ClientProcess(command, { url: here.url, election, id, ...more });

    test('passes its own tests, the shared vectors among them', { timeout: 300_000 }, async () => {
      const { code, all } = await ended(await language.ownTests());
      expect(code, all).toBe(0);
    });

    test('leads with the token of its znode, resigns, and hands over', async () => {
      const election = fresh();
      await using first = worker(election, 'first');
      const term = await first.leads();
      const [stands] = await operator.queueOf(election, 1);
      expect(term.token).toBe(String(stands?.czxid));
      expect(await operator.record(election)).toMatchObject({ term: term.term, token: term.token, leaderId: 'first' });
      await using second = worker(election, 'second', { url: there.url });
      const [, waits] = await operator.queueOf(election, 2);
      const view = await here.ask('GET', `/v1/elections/${encodeURIComponent(election)}`);
      expect(view.body.leader).toMatchObject({ id: 'first', metadata: { speaks: language.name } });

      first.tell('resign');
      const next = await second.leads();
      expect((await first.until('left')).how).toBe('resigned');
      expect(next.token).toBe(String(waits?.czxid));
      expect(next.term).toBe((term.term ?? 0) + 1);
      expect(next.previous).toMatchObject({ term: term.term, leaderId: 'first', end: 'resigned' });
      expect(String(next.previous?.token)).toBe(term.token);
      expect(first.of('act').at(-1)?.at).toBeLessThan(next.at);
    });

    test('killed: its successor leads when its last deadline is over, and not before', async () => {
      const election = fresh();
      await using first = worker(election, 'first');
      await first.leads();
      await using second = worker(election, 'second', { url: there.url });
      await operator.queueOf(election, 2);
      await sleep(1_000);
      const killed = monotonicMs();
      await first.kill();
      const next = await second.leads();
      const last = first.of('act').at(-1);
      expect(next.at).toBeGreaterThan((last?.at ?? Infinity) + (last?.remainingMs ?? Infinity) - 1);
      expect(next.at).toBeLessThan(killed + 1.06 * DEADLINE_MS + SLACK_MS);
    });

    test('frozen past its deadline: it does nothing when it wakes, and stands in the queue again', async () => {
      const election = fresh();
      await using first = worker(election, 'first');
      const term = await first.leads();
      await using second = worker(election, 'second', { url: there.url });
      await operator.queueOf(election, 2);
      await sleep(1_000);
      first.freeze();
      const frozen = monotonicMs();
      const next = await second.leads();
      // What it may have done between the look at the clock and the signal.
      const late = (said: Said) => said.event === 'act' && said.token === term.token && said.at > frozen + 100;
      first.thaw();
      await first.until('over');
      await operator.queueOf(election, 2);
      second.tell('resign');
      const again = await first.leads(term.token);
      expect(BigInt(again.token ?? 0)).toBeGreaterThan(BigInt(next.token ?? 0));
      expect(first.said.filter(late)).toEqual([]);
    });

    test('frozen for a moment past its deadline, with nobody behind it: the check fails all the same', async () => {
      await using first = worker(fresh(), 'first');
      const term = await first.leads();
      await sleep(500);
      first.freeze();
      const frozen = monotonicMs();
      await sleep(DEADLINE_MS + 200);
      first.thaw();
      await first.until('over', ({ token }) => token === term.token);
      await first.leads(term.token);
      const acts = first.of('act').filter(({ at, token }) => token === term.token && at > frozen + 100);
      expect(acts).toEqual([]);
    });

    test('its sidecar is killed: cancelled by the deadline; leads again when there is a new one', async () => {
      const election = fresh();
      await using first = worker(election, 'first');
      const term = await first.leads();
      await sleep(500);
      const killed = monotonicMs();
      await here.kill();
      const cancelled = await first.until('cancelled');
      expect(cancelled.at).toBeLessThan(killed + DEADLINE_MS + SLACK_MS);
      expect(first.of('act').at(-1)?.at).toBeLessThan(killed + DEADLINE_MS);
      here = await startHere();
      const again = await first.leads(term.token);
      expect(again.term).toBeGreaterThan(term.term ?? Infinity);
    });

    test('there is no sidecar: warns once, and leads when there is one', async () => {
      await here.kill();
      await using early = worker(fresh(), 'early');
      const warnings = () => early.log.match(/not in the queue yet, and goes on trying/g)?.length ?? 0;
      await waitFor(() => warnings() > 0, { what: 'a warning' });
      here = await startHere();
      await early.leads();
      expect(warnings()).toBe(1);
      expect(early.log).toMatch(/refused|ConnectException/i);
    });

    test('its sidecar hangs: cancelled by the deadline; leads again when it wakes', async () => {
      const { hostname, port: target } = new URL(here.url);
      const proxy = await TcpProxy.start(hostname, Number(target));
      try {
        await using first = worker(fresh(), 'first', { url: `http://127.0.0.1:${proxy.port}` });
        const term = await first.leads();
        proxy.hold('all');
        const held = monotonicMs();
        const cancelled = await first.until('cancelled');
        expect(cancelled.at).toBeLessThan(held + DEADLINE_MS + SLACK_MS);
        expect(first.of('act').at(-1)?.at).toBeLessThan(held + DEADLINE_MS);
        proxy.hold('nothing');
        await first.leads(term.token);
      } finally {
        await proxy.close();
      }
    });

    test('paused by an operator: drains, settles when its work has stopped, and leads again after the pause', async () => {
      const election = fresh();
      const path = `/v1/elections/${encodeURIComponent(election)}`;
      await using first = worker(election, 'first', { drainMs: 300 });
      const term = await first.leads();
      const paused = await here.ask('POST', `${path}/pause`, { body: { reason: 'a move', by: 'ann' } });
      expect(paused.status).toBe(200);
      const stopped = await first.until('stopped');
      expect((await first.until('cancelled')).reason).toContain('paused');
      const record = await waitFor(
        async () => {
          const found = await operator.record(election);
          return found?.['ended'] ? found : undefined;
        },
        { what: 'the end to be announced' },
      );
      expect(record['ended']).toMatchObject({ how: 'paused' });
      expect(monotonicMs()).toBeGreaterThan(stopped.at);
      await sleep(500);
      expect(first.of('term')).toHaveLength(1);
      expect((await here.ask('POST', `${path}/resume`, { body: { by: 'ann' } })).status).toBe(200);
      await first.leads(term.token);
      expect(first.of('term').at(-1)?.previous).toMatchObject({ end: 'paused' });
    });

    test('closed: leaves at once', async () => {
      const election = fresh();
      await using first = worker(election, 'first');
      await first.leads();
      first.tell('close');
      expect((await first.until('left')).how).toBe('closed');
      await operator.queueOf(election, 0, 2_000);
      await first.exited;
    });

    test('two with one id at one sidecar: the second waits until the first has gone', async () => {
      const election = fresh();
      await using first = worker(election, 'the-same');
      const term = await first.leads();
      await using second = worker(election, 'the-same');
      await second.until('ready');
      await sleep(1_500);
      expect(await operator.queue(election)).toHaveLength(1);
      expect(second.of('term')).toEqual([]);
      first.tell('resign');
      await second.leads(term.token);
    });

    test('looks at an election; one that nobody knows is an error with that code', async () => {
      const election = fresh();
      await using early = worker(election, 'early', { views: true });
      expect((await early.until('failed')).code).toBe('unknown_election');
      await using first = worker(election, 'first');
      await first.leads();
      await using second = worker(election, 'second', { views: true });
      await second.until('viewed');
    });

    test('a name that can be none, and a token that is wrong, are errors with the code of the sidecar', async () => {
      await using unnamed = worker('a//b', 'first');
      expect((await unnamed.until('failed')).code).toBe('invalid_election_name');
      const env = { TENURE_AGENT_TOKEN: 'a-token-that-is-long-enough' };
      await using guarded = await SidecarProcess.start(ensemble.connectString, { args: settings, env });
      await using stranger = worker(fresh(), 'first', { url: guarded.url, bearer: 'another-token-of-some-length' });
      expect((await stranger.until('failed')).code).toBe('unauthorized');
      await using known = worker(fresh(), 'first', { url: guarded.url, bearer: env.TENURE_AGENT_TOKEN });
      await known.leads();
    });

    if (language.sockets) {
      test('leads through a Unix socket', async () => {
        const socket = join(mkdtempSync(join(tmpdir(), 'tenure-client-')), 'agent.sock');
        await using local = await SidecarProcess.start(ensemble.connectString, { args: settings, socket });
        await using first = worker(fresh(), 'first', { url: `unix://${socket}` });
        await first.leads();
        await local.kill();
        rmSync(dirname(socket), { recursive: true });
        await first.until('cancelled');
      });
    }

    test('ZooKeeper is away: it stops by its deadline, waits, and leads again', async () => {
      await using first = worker(fresh(), 'first');
      const term = await first.leads();
      const [server] = ensemble.servers;
      const killed = monotonicMs();
      await server?.kill();
      const cancelled = await first.until('cancelled');
      expect(cancelled.at).toBeLessThan(killed + 2 * DEADLINE_MS + SLACK_MS);
      await using late = worker(fresh(), 'late');
      await late.until('ready');
      await sleep(3_000);
      expect(late.said.map(({ event }) => event)).toEqual(['ready']);
      expect(first.of('act').at(-1)?.at).toBeLessThanOrEqual(cancelled.at);
      await server?.start();
      const again = await first.leads(term.token);
      expect(BigInt(again.token ?? 0)).toBeGreaterThan(BigInt(term.token ?? 0));
      await late.leads();
    });
  });

  describe.skipIf(skipped)(
    `the ${language.name} client and a sidecar that is led by the test`,
    { timeout: 90_000 },
    () => {
      let command: Command;
      beforeAll(async () => {
        command = await language.worker();
      }, 300_000);
      deadlineTests(test, () => command);
    },
  );
}

async function ended({ file, args, cwd, env }: Command): Promise<{ code: number | null; all: string }> {
  const child = spawn(file, [...args], { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let all = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      all += text;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, all };
}
