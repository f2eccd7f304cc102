import { expect, it } from 'vitest';
import { startEnsemble } from '../../deploy/local/index.js';
import { dashboards, panels } from './dashboards.js';
import { selectors } from './lint.js';
import { exported, series } from './zookeeper-metrics.js';

it('are exported by real servers, those at least that the dashboards show', async () => {
  await using ensemble = await startEnsemble({ size: 3, tickTime: 500, fsync: false, metrics: true });
  await ensemble.waitForQuorum();
  const pages = await Promise.all(
    ensemble.servers.map(async ({ metricsUrl }) => (await fetch(metricsUrl ?? '')).text()),
  );
  const there = new Map(
    pages.flatMap((page) =>
      [...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', kind = '']) => series(name, kind)),
    ),
  );
  const known = exported();
  const shown = dashboards()
    .flatMap((dashboard) =>
      panels(dashboard).flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => selectors(expr))),
    )
    .map(({ metric }) => metric)
    .filter((metric) => known.has(metric));
  expect(shown.length).toBeGreaterThan(10);
  for (const metric of shown) expect(there.get(metric), metric).toBe(known.get(metric));
});
