import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ensemble, startEnsemble, waitFor, type ZooKeeperServer } from '../../../deploy/local/index.js';
import { fileGuard } from '../../../src/fencing/file.js';
import { presenter } from '../../../src/fencing/index.js';
import { connect, fencingMetrics, type Tenure, type Term } from '../../../src/index.js';
import { type RunningTelemetry, startTelemetry } from '../../../src/telemetry/index.js';
import { ALL_INSTRUMENTS } from '../../../src/telemetry/instruments.js';
import { type Line, Lines } from '../../../src/verify/lines.js';
import { expire } from '../../support/expire.js';
import { MetricsPage } from '../../support/metrics-page.js';
import { Operator } from '../../support/operator.js';
import { testProvider } from '../../support/telemetry-run.js';
import { needs, outcome } from '../../support/tools.js';

/*
 * Two members, each with metrics of its own, through what happens to an election: one is scraped over HTTP from the SDK that
 * `tenure/telemetry` sets up, the other reports to a provider that was injected. Whatever is in the table of instruments must
 * have been seen by the end, with the values that the events leave.
 */

const T = 4_000;
const e = { election_name: 'settlement' };

let ensemble: Ensemble;
let operator: Operator;
let telemetry: RunningTelemetry;
let first: Tenure;
let second: Tenure;
/** The second member's to its server: it can be held up. */
let line: Line;
const lines = new Lines();
const injected = testProvider();
const scrapeFirst = () => MetricsPage.scrape(telemetry.metricsUrl);
const scrapeSecond = () => injected.scrape();

beforeAll(async () => {
  ensemble = await startEnsemble({ fsync: false });
  operator = await Operator.at(ensemble.connectString);
  telemetry = await startTelemetry({ serviceName: 'test', instanceId: 'one', prometheus: { port: 0 } });
  const servers = ensemble.connectString;
  first = await connect({ servers, sessionTimeoutMs: T, probeEnsemble: { intervalMs: 200, timeoutMs: 1_000 } });
  line = await lines.to(ensemble.servers[0] as ZooKeeperServer);
  second = await connect({ servers: line.address, sessionTimeoutMs: T, meterProvider: injected.provider });
}, 120_000);

afterAll(async () => {
  await Promise.all([first?.close(), second?.close()]);
  await operator?.close();
  await telemetry?.shutdown();
  await lines.close();
  await ensemble?.close();
});

/** Until a page says so: what a member knows of others reaches it a moment later. */
async function eventually(scrape: () => Promise<MetricsPage>, what: string, says: (page: MetricsPage) => boolean) {
  let last = new MetricsPage('');
  await waitFor(
    async () => {
      last = await scrape();
      return says(last);
    },
    { what },
  );
  return last;
}

describe('metrics of real elections, in the order in which things happen', () => {
  let leader: Term;
  let waiting: Promise<Term>;

  it('one leads, the other stands by', async () => {
    leader = await first.election('settlement').campaign();
    const won = await scrapeFirst();
    expect(won.value('leader_status', e)).toBe(1);
    expect(won.value('term', e)).toBe(1);
    expect(won.value('leadership_acquired_total', e)).toBe(1);
    expect(won.value('queue_position', e)).toBe(1);
    expect(won.value('session_timeout_seconds')).toBe(T / 1_000);
    const lease = won.value('lease_remaining_seconds', e) ?? 0;
    expect(lease).toBeGreaterThan(T / 3_000);
    expect(lease).toBeLessThanOrEqual((T / 1_000) * (2 / 3));
    expect(won.value('election_duration_seconds_count', { ...e, outcome: 'won' })).toBe(1);
    expect(won.value('failover_duration_seconds_count', { ...e, cause: 'vanished' })).toBeUndefined();

    waiting = second.election('settlement').campaign();
    waiting.catch(() => {});
    const stands = await eventually(scrapeSecond, 'the second to stand by', (page) => page.value('term', e) === 1);
    expect(stands.value('leader_status', e)).toBe(0);
    expect(stands.value('queue_position', e)).toBe(2);
    expect(stands.value('candidates', e)).toBe(2);
    const counted = await eventually(scrapeFirst, 'a new census', (page) => page.value('candidates', e) === 2);
    expect(counted.value('sequence_headroom', e)).toBe(2 ** 31 - 1 - 2);
    expect(counted.value('renewal_duration_seconds_count')).toBeGreaterThan(0);
  });

  it('a process that is paused, and clocks that jump, make a leader suspect', async () => {
    const before = await scrapeFirst();
    expect(before.value('suspect_episodes_total', { ...e, reason: 'process_paused' })).toBe(0);
    const until = performance.now() + 700;
    while (performance.now() < until);
    await leader.whenLeading();
    const paused = await eventually(
      scrapeFirst,
      'the pause to be seen',
      (page) => page.value('process_pause_duration_seconds_count') !== undefined,
    );
    expect(paused.value('suspect_episodes_total', { ...e, reason: 'process_paused' })).toBeGreaterThan(0);
    expect(paused.value('process_pause_duration_seconds_sum')).toBeGreaterThan(0.2);
    expect(paused.value('leader_status', e)).toBe(1);

    const now = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    const jumped = await eventually(
      scrapeFirst,
      'the jump to be seen',
      (page) => page.value('clock_jumps_total', { direction: 'forward' }) === 1,
    );
    clock.mockRestore();
    expect(jumped.value('suspect_episodes_total', { ...e, reason: 'clock_jumped' })).toBe(1);
    await leader.whenLeading();
  });

  it('a resignation hands over: 0 for the one, 1 for the other', async () => {
    await leader.resign();
    const gone = await scrapeFirst();
    expect(gone.value('leader_status', e)).toBe(0);
    expect(gone.value('lease_remaining_seconds', e)).toBe(0);
    expect(gone.value('queue_position', e)).toBe(0);
    expect(gone.value('leadership_lost_total', { ...e, reason: 'resigned' })).toBe(1);
    leader = await waiting;
    const page = await scrapeSecond();
    expect(page.value('leader_status', e)).toBe(1);
    expect(page.value('term', e)).toBe(2);
    expect(page.value('failover_duration_seconds_count', { ...e, cause: 'resigned' })).toBe(1);
    expect(page.value('failover_duration_seconds_sum', { ...e, cause: 'resigned' })).toBeLessThan(1);
    expect(page.value('patience_duration_seconds_count', e)).toBe(1);
  });

  it('a session that expires is a loss for the one, and a failover of about the lease for the other', async () => {
    waiting = first.election('settlement').campaign();
    await eventually(scrapeFirst, 'the first to stand by', (page) => page.value('queue_position', e) === 2);
    // Two renewals, so that the failover is counted from one that was seen.
    await new Promise((resolve) => setTimeout(resolve, (T / 10) * 3));
    const lost = new Promise((resolve) => leader.signal.addEventListener('abort', resolve, { once: true }));
    const sessionId = second.session?.id ?? '';
    await expire(ensemble.servers[0] as ZooKeeperServer, sessionId, line);
    await lost;
    const expired = await scrapeSecond();
    expect(expired.value('leader_status', e)).toBe(0);
    expect(expired.value('session_expirations_total')).toBe(1);
    expect(expired.value('leadership_lost_total', { ...e, reason: 'session_expired' })).toBe(1);
    leader = await waiting;
    const page = await scrapeFirst();
    expect(page.value('leader_status', e)).toBe(1);
    expect(page.value('term', e)).toBe(3);
    expect(page.value('failover_duration_seconds_count', { ...e, cause: 'vanished' })).toBe(1);
    // From the last renewal seen on: at least what patience waits, 1.06 leases.
    const leaderless = page.value('failover_duration_seconds_sum', { ...e, cause: 'vanished' }) ?? 0;
    expect(leaderless).toBeGreaterThan((T / 1_000) * (2 / 3) * 1.05);
    expect(page.value('patience_duration_seconds_sum', e)).toBeGreaterThan(0.5);
  });

  it('a recovery is shown while it lasts, and a pause by those who see it', async () => {
    await leader.resign();
    const stop = new AbortController();
    let recovered: () => void = () => {};
    const recovering = new Promise<void>((resolve) => {
      recovered = resolve;
    });
    const led = first
      .election('settlement')
      .lead((term) => new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve())), {
        signal: stop.signal,
        recover: () => recovering,
      });
    led.catch(() => {});
    await eventually(scrapeFirst, 'the recovery', (page) => page.value('recovering', e) === 1);
    recovered();
    const done = await eventually(scrapeFirst, 'its end', (page) => page.value('recovering', e) === 0);
    expect(done.value('leader_status', e)).toBe(1);
    expect(done.value('paused', e)).toBe(0);

    await pause({ by: 'operator', at: new Date().toISOString(), reason: 'maintenance' });
    const paused = await eventually(scrapeFirst, 'the pause', (page) => page.value('paused', e) === 1);
    expect(paused.value('leader_status', e)).toBe(0);
    expect(paused.value('leadership_lost_total', { ...e, reason: 'paused' })).toBe(1);
    await pause(null);
    const resumed = await eventually(scrapeFirst, 'the resumption', (page) => page.value('leader_status', e) === 1);
    expect(resumed.value('paused', e)).toBe(0);
    stop.abort();
    await led.catch(() => {});
  });

  it('a token that would not exceed the last one is counted', async () => {
    expect((await scrapeFirst()).value('token_regressions_total', e)).toBe(0);
    const record = await operator.record('settlement');
    await rewrite({
      ...record,
      floor: '0',
      token: '9000000000000000',
      ended: { at: '2026-01-01T00:00:00Z', how: 'resigned' },
    });
    await expect(first.election('settlement').campaign()).rejects.toThrow(/fence raise/);
    const page = await scrapeFirst();
    expect(page.value('token_regressions_total', e)).toBe(1);
    expect(page.value('election_duration_seconds_count', { ...e, outcome: 'failed' })).toBe(1);
  });

  it('a write that is refused is counted by the guard, and repeated work by its tasks', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenure-metrics-'));
    const observer = fencingMetrics({ resources: ['ledger'] });
    const guard = fileGuard({ directory: folder, observer });
    try {
      await guard.check(presenter(7n), 'ledger');
      const before = await scrapeFirst();
      expect(before.value('fence_checks_total', { resource: 'ledger', outcome: 'stale' })).toBe(0);
      await expect(guard.check(presenter(6n), 'ledger')).rejects.toThrow();
      const after = await scrapeFirst();
      expect(after.value('fence_checks_total', { resource: 'ledger', outcome: 'stale' })).toBe(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
    observer.duplicate?.('suppressed', 'a key');
    observer.lastSuccess?.('nightly', 1_700_000_000_000);
    const page = await scrapeFirst();
    expect(page.value('tasks_duplicates_total', { outcome: 'suppressed' })).toBe(1);
    expect(page.value('task_last_success_timestamp_seconds', { task: 'nightly' })).toBe(1_700_000_000);
  });

  it('renewals that fail are counted by their kind', async () => {
    const term = await first.election('another').campaign();
    await operator.remove(`/tenure/sessions/${(await operator.record('another'))?.['session']}`);
    await waitFor(() => term.signal.aborted, { what: 'the loss of the session node', timeoutMs: 10_000 });
    const page = await scrapeFirst();
    expect(page.value('renewal_failures_total', { error_type: 'no_node' })).toBe(1);
    expect(page.value('leadership_lost_total', { election_name: 'another', reason: 'session_node_gone' })).toBe(1);
  });

  it('has seen every instrument of the table, by the name that the table has', async () => {
    const page = await scrapeFirst();
    const missing = ALL_INSTRUMENTS.filter(
      ({ prometheus, kind }) => page.all(kind === 'histogram' ? `${prometheus}_count` : prometheus).length === 0,
    );
    expect(missing.map(({ prometheus }) => prometheus)).toEqual([]);
    for (const { prometheus, kind, description } of ALL_INSTRUMENTS) {
      expect(page.text).toContain(`# TYPE ${prometheus} ${kind}\n`);
      expect(page.text).toContain(`# HELP ${prometheus} ${description}`);
    }
    expect(page.text).toMatch(/target_info\{[^}]*service_name="test"[^}]*service_instance_id="one"/);
    const foreign = [...page.text.matchAll(/^(leader_election_\w+?)(?:_bucket|_sum|_count)?[{ ]/gm)]
      .map(([, name]) => name)
      .filter((name) => !ALL_INSTRUMENTS.some(({ prometheus }) => prometheus === name));
    expect(foreign).toEqual([]);
  });

  it('passes the linter of Prometheus', async (context) => {
    needs(context, 'promtool');
    const folder = mkdtempSync(join(tmpdir(), 'tenure-metrics-'));
    try {
      writeFileSync(join(folder, 'page'), (await scrapeFirst()).text);
      const { code, all } = await outcome('bash', ['-c', 'promtool check metrics < page'], folder);
      expect(all).toBe('');
      expect(code).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('goes on with zeros when the connection is closed', async () => {
    const term = await second.election('settled').campaign();
    expect((await scrapeSecond()).value('leader_status', { election_name: 'settled' })).toBe(1);
    await second.close();
    const page = await scrapeSecond();
    expect(term.signal.aborted).toBe(true);
    expect(page.value('leader_status', { election_name: 'settled' })).toBe(0);
    expect(page.value('session_timeout_seconds')).toBe(0);
  });
});

async function pause(value: unknown): Promise<void> {
  await rewrite({ ...(await operator.record('settlement')), pause: value });
}

/** As an operator does it: a compare-and-set, again until nobody else has written in between. */
async function rewrite(record: object): Promise<void> {
  const stat = await operator.session.stat(operator.termPath('settlement'));
  await operator.session.write(
    operator.termPath('settlement'),
    Buffer.from(JSON.stringify(record)),
    stat?.version ?? -1,
  );
}
