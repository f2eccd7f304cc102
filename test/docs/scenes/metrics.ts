import assert from 'node:assert/strict';
import type { Tenure } from '../../../src/index.js';
import { until } from './place.js';

export async function afterwards({ tenure }: { tenure?: Tenure }): Promise<void> {
  const term = await tenure?.election('settlement').campaign();
  assert(term !== undefined);
  const port = process.env['OTEL_EXPORTER_PROMETHEUS_PORT'];
  const page = await until(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /quorum_voters/.test(text) && text;
  });
  // A resource that is named has its series from the start.
  assert.match(page, /fence_checks_total\{[^}]*resource="ledger"[^}]*\} 0/);
  assert.match(page, /leader_election_leader_status\{[^}]*="settlement"[^}]*\} 1/);
}
