import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ALL_INSTRUMENTS } from '../../src/telemetry/instruments.js';
import { needs, outcome } from '../support/tools.js';
import { type Dashboard, dashboards, dashboardsFolder, filled, panels } from './dashboards.js';
import { bare, lint, selectors } from './lint.js';
import { exported } from './zookeeper-metrics.js';

const all = dashboards();
const runbooks = fileURLToPath(new URL('../../alerts/runbooks', import.meta.url));

/** Our instruments as Prometheus names them. */
const ours = new Map(
  ALL_INSTRUMENTS.flatMap(({ prometheus, kind }): [string, string][] =>
    kind === 'histogram'
      ? ['_bucket', '_count', '_sum'].map((end) => [prometheus + end, 'counter'])
      : [[prometheus, kind]],
  ),
);
const theirs = exported();
const counters = new Set([...ours, ...theirs].filter(([, kind]) => kind === 'counter').map(([name]) => name));

/** All that a dashboard asks Prometheus. */
const asked = (dashboard: Dashboard): string[] => [
  ...panels(dashboard).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...dashboard.annotations.list.map(({ expr }) => expr),
];

describe('the dashboards', () => {
  it('are four', () => {
    expect(all.map(({ uid }) => uid)).toEqual([
      'tenure-election',
      'tenure-ensemble',
      'tenure-fencing',
      'tenure-overview',
    ]);
  });

  it('belong to their sources, as inputs.sha256 says', () => {
    const listed = readFileSync(join(dashboardsFolder, 'inputs.sha256'), 'utf8').trim().split('\n');
    for (const line of listed) {
      const [hash, name = ''] = line.split(/\s+/);
      const present = createHash('sha256')
        .update(readFileSync(join(dashboardsFolder, name)))
        .digest('hex');
      expect(present, `${name} has changed: run dashboards/render.sh`).toBe(hash);
    }
    const names = listed.map((line) => normalize(line.split(/\s+/)[1] ?? ''));
    const there = readdirSync(dashboardsFolder).filter((name) => /\.(lib|j)sonnet$/.test(name));
    const rendered = readdirSync(join(dashboardsFolder, 'out')).map((name) => `out/${name}`);
    expect([...names].sort()).toEqual(
      [...there, ...rendered, 'jsonnetfile.lock.json', '../alerts/site.libsonnet'].sort(),
    );
  });

  it.each(all)('$uid keeps the rules of linters', (dashboard) => {
    expect(lint(dashboard, counters)).toEqual([]);
  });

  it.each(all)('$uid names only metrics that exist', (dashboard) => {
    const named = new Set(asked(dashboard).flatMap((expr) => selectors(expr).map(({ metric }) => metric)));
    expect(named.size).toBeGreaterThan(0);
    expect([...named].filter((name) => !ours.has(name) && !theirs.has(name))).toEqual([]);
  });

  it.each(all)('$uid lays its panels side by side', (dashboard) => {
    const taken = new Map<string, string>();
    for (const { gridPos, title = '' } of dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])])) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.get(`${x},${y}`), `${title} lies over another panel`).toBeUndefined();
          taken.set(`${x},${y}`, title);
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it.each(all)('$uid leads to runbooks that exist', (dashboard) => {
    const pages = readdirSync(runbooks);
    const links = [...dashboard.links, ...panels(dashboard).flatMap(({ links: own = [] }) => own)];
    const named = links.flatMap(({ url }) => /tenure\/(\w+\.md)$/.exec(url ?? '')?.[1] ?? []);
    expect(named.length).toBeGreaterThan(1);
    for (const name of named) expect(pages).toContain(name);
  });

  it('ask what Prometheus understands', async (context) => {
    needs(context, 'promtool');
    const folder = mkdtempSync(join(tmpdir(), 'tenure-dashboards-'));
    try {
      const queries = all.flatMap(asked).map((expr) => filled(expr));
      for (const query of queries) expect(query).not.toContain('$');
      const rules = queries.map((expr, index) => ({ record: `query_${index}`, expr }));
      writeFileSync(join(folder, 'queries.yaml'), JSON.stringify({ groups: [{ name: 'queries', rules }] }));
      const { code, all: said } = await outcome('promtool', ['check', 'rules', join(folder, 'queries.yaml')]);
      expect(code, said).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('the linter', () => {
  const good = all.find(({ uid }) => uid === 'tenure-overview') as Dashboard;

  /** What it says of a dashboard that is broken in one place. */
  function broken(change: (dashboard: Record<string, never> & Dashboard) => void): string[] {
    const copy = structuredClone(good) as Record<string, never> & Dashboard;
    change(copy);
    return lint(copy, counters);
  }
  // biome-ignore lint/suspicious/noExplicitAny: it is there to be broken
  const first = (dashboard: Dashboard): any => panels(dashboard)[0];
  // biome-ignore lint/suspicious/noExplicitAny: it is there to be broken
  const variable = (dashboard: Dashboard, name: string): any =>
    dashboard.templating.list.find((one) => one.name === name);
  const expr = (text: string) => (dashboard: Dashboard) => {
    first(dashboard).targets[0].expr = text;
  };
  const all3 = 'cluster=~"$cluster", job=~"$job", instance=~"$instance"';

  it.each<[string, (dashboard: Dashboard) => void]>([
    ['can be edited', (dashboard) => Object.assign(dashboard, { editable: true })],
    ['leads to no other dashboard', (dashboard) => Object.assign(dashboard, { links: [] })],
    ['does not annotate', (dashboard) => Object.assign(dashboard.annotations, { list: [] })],
    ["job can't be several", (dashboard) => Object.assign(variable(dashboard, 'job'), { allValue: '.*' })],
    ['election is not refreshed', (dashboard) => Object.assign(variable(dashboard, 'election'), { refresh: 'time' })],
    ['has no unit', (dashboard) => Object.assign(first(dashboard).fieldConfig.defaults, { unit: '' })],
    ['has no description', (dashboard) => Object.assign(first(dashboard), { description: '' })],
    ['does not take the data source', (dashboard) => Object.assign(first(dashboard).datasource, { uid: 'abc' })],
    ['asks nothing', (dashboard) => Object.assign(first(dashboard), { targets: [] })],
    ['refId is ', (dashboard) => Object.assign(first(dashboard).targets[0], { refId: '' })],
    ['is not restricted to instance', expr('leader_election_term{cluster=~"$cluster", job=~"$job"}')],
    ['is not restricted to job', expr('leader_election_term{cluster=~"$cluster", job="$job", instance=~"$instance"}')],
    ['has no selector', expr('max(leader_election_term) by (job)')],
    ['has a fixed range', expr(`rate(leader_election_fence_checks_total{${all3}}[5m])`)],
    ['is a counter', expr(`sum(leader_election_fence_checks_total{${all3}})`)],
  ])('notices: %s', (what, change) => {
    expect(lint(good, counters)).toEqual([]);
    expect(broken(change).join('\n')).toContain(what);
  });

  it('finds metrics without a selector, and nothing else', () => {
    expect(bare('sum by (a, b) (rate(x{c="d"}[5m])) > on (e) group_left (f) y or time() - 3 unless z')).toEqual([
      'y',
      'z',
    ]);
  });
});
