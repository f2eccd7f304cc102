import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { METRICS_PAGE, metricsPage } from '../../../deploy/docs/metrics.js';
import type { SuspectReason } from '../../../src/election/holding.js';
import type { EndHow } from '../../../src/election/record.js';
import type { LossReason } from '../../../src/errors.js';
import type { FenceOutcome } from '../../../src/fencing/guard.js';
import {
  ALL_INSTRUMENTS,
  type CAUSES,
  cardinality,
  type FENCE_OUTCOMES,
  INSTRUMENTS,
  type Instrument,
  type LOSS_REASONS,
  type MODES,
  type SUSPECT_REASONS,
} from '../../../src/telemetry/instruments.js';
import { views } from '../../../src/telemetry/views.js';
import type { ServerMode } from '../../../src/zookeeper/server-status.js';

/** Compiles only while the table's values are exactly those of the type. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Complete = [
  Same<(typeof LOSS_REASONS)[number], LossReason>,
  Same<(typeof SUSPECT_REASONS)[number], SuspectReason>,
  Same<(typeof CAUSES)[number], EndHow>,
  Same<(typeof MODES)[number], ServerMode>,
  Same<(typeof FENCE_OUTCOMES)[number], FenceOutcome>,
];

/** The metrics that the design promises. */
const PROMISED = `leader_status term paused leadership_acquired_total leadership_lost_total renewal_duration_seconds
  renewal_failures_total lease_remaining_seconds session_timeout_seconds session_expirations_total
  election_duration_seconds failover_duration_seconds patience_duration_seconds recovery_duration_seconds candidates
  queue_position suspect_episodes_total process_pause_duration_seconds clock_jumps_total fence_checks_total
  tasks_duplicates_total task_last_success_timestamp_seconds quorum_voters quorum_voters_healthy quorum_ok
  server_latency_seconds server_mode server_zxid_lag sequence_headroom build_info`
  .split(/\s+/)
  .map((name) => `leader_election_${name}`);

/** As exporter-prometheus names them: it adds no unit. */
function scraped({ name, kind }: Instrument): string {
  const plain = name.replaceAll(/[^a-z0-9_]/gi, '_').replaceAll(/_{2,}/g, '_');
  return kind === 'counter' && !plain.endsWith('_total') ? `${plain}_total` : plain;
}

/** As Prometheus's OTLP receiver names them: the unit is added unless it is there, `1` becomes `ratio`. */
function pushed({ name, kind, unit }: Instrument): string {
  let tokens = name.split(/[^a-zA-Z0-9]+/).filter((token) => token !== '');
  const word = { s: 'seconds', ms: 'milliseconds', By: 'bytes' }[unit] ?? (/[{}]|^1$/.test(unit) ? null : unit);
  if (word !== null && !tokens.includes(word)) tokens.push(word);
  if (kind === 'counter') tokens = [...tokens.filter((token) => token !== 'total'), 'total'];
  if (unit === '1' && kind === 'gauge') tokens = [...tokens.filter((token) => token !== 'ratio'), 'ratio'];
  return tokens.join('_');
}

describe('the table of instruments', () => {
  it('has every metric that is promised', () => {
    const names = ALL_INSTRUMENTS.map(({ prometheus }) => prometheus);
    expect(new Set(names).size).toBe(names.length);
    expect(PROMISED.filter((name) => !names.includes(name))).toEqual([]);
  });

  it('lists all values that the types know, and no others', () => {
    const complete: Complete = [true, true, true, true, true];
    expect(complete).not.toContain(false);
  });

  it.each(ALL_INSTRUMENTS)('$prometheus has that name scraped and pushed', (instrument) => {
    expect(scraped(instrument)).toBe(instrument.prometheus);
    expect(pushed(instrument)).toBe(instrument.prometheus);
  });

  it.each(ALL_INSTRUMENTS)('$prometheus says what it is and answers a question', (instrument) => {
    expect(instrument.description).toMatch(/^[A-Z0-9].*[^.]$/);
    expect(instrument.answers).toMatch(/[?.)]$/);
    expect(instrument.unit).not.toBe('1');
    expect(instrument.kind === 'histogram').toBe(instrument.bounds !== undefined);
    const bounds = instrument.bounds ?? [];
    expect([...bounds].sort((a, b) => a - b)).toEqual(bounds);
  });

  it('labels nothing with what has no bound, nor with a role', () => {
    const labels = new Set(ALL_INSTRUMENTS.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...labels].filter((label) => /token|term|session|path|key|role|candidate|leader/.test(label))).toEqual([]);
  });

  it('has a gauge in each scope, for it is gauges that a collection waits for', () => {
    for (const scope of new Set(ALL_INSTRUMENTS.map((each) => each.scope))) {
      expect(ALL_INSTRUMENTS.some((each) => each.scope === scope && each.kind === 'gauge')).toBe(true);
    }
  });

  it('leaves room for 10,000 elections in every view', () => {
    for (const view of views()) {
      const instrument = ALL_INSTRUMENTS.find(({ name }) => name === view.instrumentName);
      if (instrument === undefined || !('election.name' in instrument.attributes)) continue;
      expect(view.aggregationCardinalityLimit).toBeGreaterThan(10_000);
      expect(view.aggregationCardinalityLimit).toBeGreaterThan(cardinality(instrument));
    }
    expect(cardinality(INSTRUMENTS.leadershipLost)).toBe(10_001 * 10);
  });

  it('is what docs/metrics.md was generated from', () => {
    expect(readFileSync(METRICS_PAGE, 'utf8')).toBe(metricsPage());
  });
});
