import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { presenter } from '../../../src/fencing/index.js';
import { fencingMetrics } from '../../../src/telemetry/fencing-metrics.js';
import { testProvider } from '../../support/telemetry-run.js';

describe('metrics of fencing', () => {
  it('begin at 0 for every resource and outcome that is named', async () => {
    const { provider, scrape } = testProvider();
    fencingMetrics({ meterProvider: provider, resources: ['ledger'] });
    const page = await scrape();
    for (const outcome of ['accepted', 'stale', 'regressed', 'missing']) {
      expect(page.value('fence_checks_total', { resource: 'ledger', outcome })).toBe(0);
    }
    for (const outcome of ['executed', 'suppressed']) {
      expect(page.value('tasks_duplicates_total', { outcome })).toBe(0);
    }
  });

  it('count checks by resource and outcome, the rest of the resources together', async () => {
    const { provider, scrape } = testProvider();
    const observer = fencingMetrics({ meterProvider: provider, resources: ['ledger'] });
    observer.check?.('ledger', 'accepted');
    observer.check?.('ledger', 'stale');
    observer.check?.('x', 'regressed');
    observer.check?.('y', 'regressed');
    const page = await scrape();
    expect(page.value('fence_checks_total', { resource: 'ledger', outcome: 'accepted' })).toBe(1);
    expect(page.value('fence_checks_total', { resource: 'ledger', outcome: 'stale' })).toBe(1);
    expect(page.value('fence_checks_total', { resource: 'other', outcome: 'regressed' })).toBe(2);
    expect(page.text).not.toMatch(/resource="[xy]"/);
  });

  it('count repeated work, never by its key, and keep the latest success of a job', async () => {
    const { provider, scrape } = testProvider();
    const observer = fencingMetrics({ meterProvider: provider, tasks: ['nightly', 'hourly'] });
    observer.duplicate?.('executed', 'payment-17');
    observer.duplicate?.('suppressed', 'payment-18');
    observer.lastSuccess?.('nightly', 1_700_000_000_000);
    observer.lastSuccess?.('nightly', 1_600_000_000_000);
    observer.lastSuccess?.('hourly', 0);
    observer.lastSuccess?.('unknown', 1_700_000_000_000);
    const page = await scrape();
    expect(page.value('tasks_duplicates_total', { outcome: 'executed' })).toBe(1);
    expect(page.value('tasks_duplicates_total', { outcome: 'suppressed' })).toBe(1);
    expect(page.value('task_last_success_timestamp_seconds', { task: 'nightly' })).toBe(1_700_000_000);
    expect(page.value('task_last_success_timestamp_seconds', { task: 'hourly' })).toBe(0);
    // One success among many would hide all others that are overdue.
    expect(page.value('task_last_success_timestamp_seconds', { task: 'other' })).toBeUndefined();
    expect(page.text).not.toContain('payment-');
  });

  it('count what a real guard refuses', async () => {
    const { fileGuard } = await import('../../../src/fencing/file.js');
    const { provider, scrape } = testProvider();
    const folder = mkdtempSync(join(tmpdir(), 'tenure-metrics-'));
    try {
      const guard = fileGuard({ directory: folder, observer: fencingMetrics({ meterProvider: provider }) });
      await guard.check(presenter(7n), 'ledger');
      await expect(guard.check(presenter(6n), 'ledger')).rejects.toThrow(/refused token 6/);
      const page = await scrape();
      expect(page.value('fence_checks_total', { resource: 'ledger', outcome: 'accepted' })).toBe(1);
      expect(page.value('fence_checks_total', { resource: 'ledger', outcome: 'stale' })).toBe(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
