import { metrics } from '@opentelemetry/api';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testConnection, testProvider } from '../../support/telemetry-run.js';

const a1 = { election: 'a', candidateId: 'one' };
const a = { election_name: 'a' };

type Connection = ReturnType<typeof testConnection>;

/** Joins and wins. Returns the live term. */
function win({ telemetry, terms }: Connection, who = a1, term = 1, leaseMs = 4_000) {
  const live = { election: who.election, number: term, left: leaseMs, remainingMs: () => live.left };
  telemetry.on('campaign_started', who);
  telemetry.on('joined', { ...who, node: 'n-0000000007', ahead: 0 });
  terms.add(live);
  telemetry.on('elected', {
    ...who,
    term,
    token: 70n,
    electionMs: 20,
    failoverMs: 3_000,
    patienceMs: 400,
    cause: 'vanished',
  });
  telemetry.on('campaign_ended', { ...who, outcome: 'won', durationMs: 30 });
  return live;
}

describe('metrics of elections', () => {
  afterEach(() => metrics.disable());

  it('shows an election that is won, and its loss as 0', async () => {
    const { provider, scrape } = testProvider();
    const connection = testConnection({ meterProvider: provider });
    const live = win(connection);
    const won = await scrape();
    expect(won.value('leader_status', a)).toBe(1);
    expect(won.value('term', a)).toBe(1);
    expect(won.value('lease_remaining_seconds', a)).toBe(4);
    expect(won.value('recovering', a)).toBe(1);
    expect(won.value('queue_position', a)).toBe(1);
    expect(won.value('candidates', a)).toBe(1);
    expect(won.value('sequence_headroom', a)).toBe(2 ** 31 - 1 - 8);
    expect(won.value('leadership_acquired_total', a)).toBe(1);
    expect(won.value('election_duration_seconds_sum', { ...a, outcome: 'won' })).toBe(0.02);
    expect(won.value('failover_duration_seconds_sum', { ...a, cause: 'vanished' })).toBe(3);
    expect(won.value('patience_duration_seconds_sum', a)).toBe(0.4);
    expect(won.value('leadership_lost_total', { ...a, reason: 'lease_expired' })).toBe(0);

    const { telemetry, terms } = connection;
    telemetry.on('recovered', { ...a1, term: 1, token: 70n, durationMs: 500 });
    expect((await scrape()).value('recovering', a)).toBe(0);
    live.left = 0;
    terms.delete(live);
    telemetry.on('lost', { ...a1, term: 1, token: 70n, reason: 'lease_expired', ledMs: 10 });
    const lost = await scrape();
    expect(lost.value('leader_status', a)).toBe(0);
    expect(lost.value('lease_remaining_seconds', a)).toBe(0);
    expect(lost.value('queue_position', a)).toBe(0);
    expect(lost.value('term', a)).toBe(1);
    expect(lost.value('leadership_lost_total', { ...a, reason: 'lease_expired' })).toBe(1);
    expect(lost.value('recovery_duration_seconds_sum', a)).toBe(0.5);
  });

  it('asks the clocks, not the timers, whether a term still holds', async () => {
    const { provider, scrape } = testProvider();
    const live = win(testConnection({ meterProvider: provider }));
    expect((await scrape()).value('leader_status', a)).toBe(1);
    live.left = 0;
    expect((await scrape()).value('leader_status', a)).toBe(0);
  });

  it('goes on when the wall clock is set back, and comes to exactly 0', async () => {
    const { provider, scrape } = testProvider();
    const live = win(testConnection({ meterProvider: provider }));
    const now = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    for (let i = 0; i < 50; i++) {
      live.left = i % 2 === 0 ? 1e7 / (i + 3) : 0.1 * i;
      await scrape();
    }
    clock.mockRestore();
    expect((await scrape()).value('leader_status', a)).toBe(1);
    live.left = 0;
    const page = await scrape();
    expect(page.value('leader_status', a)).toBe(0);
    expect(page.value('lease_remaining_seconds', a)).toBe(0);
  });

  it('goes on with zeros when the connection is closed', async () => {
    const { provider, scrape } = testProvider();
    const connection = testConnection({ meterProvider: provider });
    win(connection);
    expect((await scrape()).value('session_timeout_seconds')).toBe(10);
    connection.telemetry.close();
    const closed = await scrape();
    expect(closed.value('leader_status', a)).toBe(0);
    expect(closed.value('term', a)).toBe(1);
    expect(closed.value('session_timeout_seconds')).toBe(0);
  });

  it('shows one series of an election in two connections, and the leader among them', async () => {
    const { provider, scrape } = testProvider();
    const second = testConnection({ meterProvider: provider });
    const first = testConnection({ meterProvider: provider });
    win(first);
    const two = { ...a1, candidateId: 'two' };
    second.telemetry.on('joined', { ...two, node: 'n-0000000008', ahead: 1 });
    second.state.timeoutMs = null;
    const page = await scrape();
    expect(page.all('leader_election_leader_status')).toHaveLength(1);
    expect(page.value('leader_status', a)).toBe(1);
    expect(page.value('queue_position', a)).toBe(1);
    expect(page.value('candidates', a)).toBe(2);
    expect(page.value('session_timeout_seconds')).toBe(0);
  });

  it('follows an SDK that is registered after the connection, at the next campaign', async () => {
    const connection = testConnection({});
    const { provider, scrape } = testProvider();
    metrics.setGlobalMeterProvider(provider);
    expect((await scrape()).value('leader_status', a)).toBeUndefined();
    win(connection);
    const page = await scrape();
    expect(page.value('leader_status', a)).toBe(1);
    expect(page.value('leadership_acquired_total', a)).toBe(1);
    expect(page.value('suspect_episodes_total', { ...a, reason: 'process_paused' })).toBe(0);
  });

  it('counts elections without a label of their own together, and shows no gauge of them', async () => {
    const { provider, scrape } = testProvider();
    const connection = testConnection({ meterProvider: provider, elections: ['a'] });
    win(connection);
    win(connection, { election: 'x', candidateId: 'one' });
    win(connection, { election: 'y', candidateId: 'one' });
    const page = await scrape();
    expect(page.value('leadership_acquired_total', { election_name: 'other' })).toBe(2);
    expect(page.value('leadership_acquired_total', a)).toBe(1);
    expect(page.value('leader_status', { election_name: 'other' })).toBeUndefined();
    expect(page.text).not.toMatch(/election_name="[xy]"/);
  });

  it('drops elections from histograms above the bound, and from nothing else', async () => {
    const { provider, scrape } = testProvider();
    const connection = testConnection({ meterProvider: provider, maxElectionsInHistograms: 1 });
    win(connection);
    win(connection, { election: 'b', candidateId: 'one' });
    const page = await scrape();
    const other = { election_name: 'other' };
    expect(page.value('leader_status', { election_name: 'b' })).toBe(1);
    expect(page.value('patience_duration_seconds_count', { election_name: 'b' })).toBeUndefined();
    expect(page.value('patience_duration_seconds_count', other)).toBe(1);
    expect(page.value('patience_duration_seconds_count', a)).toBe(1);
  });

  it('forgets a pause that its member no longer watches', async () => {
    const { provider, scrape } = testProvider();
    const { telemetry } = testConnection({ meterProvider: provider });
    telemetry.on('joined', { ...a1, node: 'n-0000000001', ahead: 0 });
    telemetry.on('record_seen', { ...a1, recordedTerm: 4, paused: true });
    const paused = await scrape();
    expect(paused.value('paused', a)).toBe(1);
    expect(paused.value('term', a)).toBe(4);
    telemetry.on('joined', { ...a1, node: 'n-0000000009', ahead: 3 });
    telemetry.on('record_seen', { ...a1, recordedTerm: 4, paused: null });
    expect((await scrape()).value('paused', a)).toBe(0);
  });

  it('has no place of a candidate that has left the queue, and will be back when its process is not held any more', async () => {
    const { provider, scrape } = testProvider();
    const { telemetry } = testConnection({ meterProvider: provider });
    telemetry.on('joined', { ...a1, node: 'n-0000000001', ahead: 2 });
    expect((await scrape()).value('queue_position', a)).toBe(3);
    telemetry.on('left', { ...a1 });
    expect((await scrape()).value('queue_position', a)).toBe(0);
    telemetry.on('joined', { ...a1, node: 'n-0000000009', ahead: 1 });
    expect((await scrape()).value('queue_position', a)).toBe(2);
  });

  it('counts what happens to the session, the process and its clocks', async () => {
    const { provider, scrape } = testProvider();
    const { telemetry } = testConnection({ meterProvider: provider });
    telemetry.on('joined', { ...a1, node: 'n-0000000001', ahead: 2 });
    expect((await scrape()).value('session_expirations_total')).toBe(0);
    telemetry.on('renewal_confirmed', { roundTripMs: 7 });
    telemetry.on('renewal_failed', { kind: 'connection_lost' });
    telemetry.on('disturbed', { disturbance: { kind: 'process_paused', ms: 900 } });
    telemetry.on('disturbed', { disturbance: { kind: 'suspended', ms: 100 } });
    telemetry.on('disturbed', { disturbance: { kind: 'clock_jumped', ms: -5_000 } });
    telemetry.on('suspect', { ...a1, term: 1, token: 1n, reason: 'process_paused' });
    telemetry.on('token_regressed', { ...a1, token: 1n, recorded: 2n });
    telemetry.on('campaign_ended', { ...a1, outcome: 'failed', durationMs: 1_000 });
    telemetry.on('session_state', { sessionId: 'ff', state: 'expired' });
    const page = await scrape();
    expect(page.value('session_expirations_total')).toBe(1);
    expect(page.value('renewal_duration_seconds_sum')).toBe(0.007);
    expect(page.value('renewal_duration_seconds_bucket', { le: '0.005' })).toBe(0);
    expect(page.value('renewal_duration_seconds_bucket', { le: '0.01' })).toBe(1);
    expect(page.value('renewal_failures_total', { error_type: 'connection_lost' })).toBe(1);
    expect(page.value('process_pause_duration_seconds_count')).toBe(2);
    expect(page.value('process_pause_duration_seconds_sum')).toBe(1);
    expect(page.value('clock_jumps_total', { direction: 'backward' })).toBe(1);
    expect(page.value('suspect_episodes_total', { ...a, reason: 'process_paused' })).toBe(1);
    expect(page.value('token_regressions_total', a)).toBe(1);
    expect(page.value('election_duration_seconds_count', { ...a, outcome: 'failed' })).toBe(1);
    expect(page.value('queue_position', a)).toBe(0);
  });

  it('takes a census where its member is first or second, not more often than every 5 s', async () => {
    const { provider, scrape } = testProvider();
    const { telemetry, state } = testConnection({ meterProvider: provider });
    let asked = 0;
    telemetry.election('a', {
      census: async () => {
        asked += 1;
        return { candidates: 7, headroom: 99, foreignLeader: null };
      },
    });
    telemetry.on('joined', { ...a1, node: 'n-0000000001', ahead: 2 });
    expect((await scrape()).value('candidates', a)).toBe(0);
    expect(asked).toBe(0);
    telemetry.on('position', { ...a1, ahead: 1 });
    const second = await scrape();
    expect([second.value('candidates', a), second.value('sequence_headroom', a)]).toEqual([7, 99]);
    await scrape();
    expect(asked).toBe(1);
    state.now = 5_001;
    await scrape();
    expect(asked).toBe(2);
  });

  it('looks for a foreign leader where its member stands right behind a foreign candidate, wherever that is', async () => {
    const { provider, scrape } = testProvider();
    const { telemetry, state } = testConnection({ meterProvider: provider });
    const asked: boolean[] = [];
    let foreignLeader = true;
    telemetry.election('a', {
      census: async (who) => {
        asked.push(who);
        return { candidates: 9, headroom: 99, foreignLeader: who ? foreignLeader : null };
      },
    });
    telemetry.on('joined', { ...a1, node: 'n-0000000001', ahead: 7 });
    telemetry.on('predecessor', { ...a1, node: 'm', foreign: false });
    expect((await scrape()).value('foreign_leader', a)).toBe(0);
    expect(asked).toEqual([]);
    telemetry.on('predecessor', { ...a1, node: 'l', foreign: true });
    expect((await scrape()).value('foreign_leader', a)).toBe(1);
    expect(asked).toEqual([true]);
    // One of ours leads, further ahead.
    foreignLeader = false;
    state.now = 6_000;
    expect((await scrape()).value('foreign_leader', a)).toBe(0);
    foreignLeader = true;
    state.now = 12_000;
    expect((await scrape()).value('foreign_leader', a)).toBe(1);
    // The foreign one has gone: nobody is before us.
    telemetry.on('position', { ...a1, ahead: 0 });
    expect((await scrape()).value('foreign_leader', a)).toBe(0);
  });

  it('does not wait for a census that does not come', async () => {
    const { provider, scrape } = testProvider();
    const { telemetry } = testConnection({ meterProvider: provider });
    telemetry.election('a', { census: () => new Promise(() => {}) });
    telemetry.on('joined', { ...a1, node: 'n-0000000001', ahead: 0 });
    const start = performance.now();
    expect((await scrape()).value('candidates', a)).toBe(1);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it('costs next to nothing without an SDK', () => {
    const { telemetry } = testConnection({});
    const rounds = 20_000;
    const start = performance.now();
    for (let i = 0; i < rounds; i++) telemetry.on('renewal_confirmed', { roundTripMs: 1 });
    expect(((performance.now() - start) / rounds) * 1_000).toBeLessThan(20);
  });
});
