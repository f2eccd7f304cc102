import { type Dashboard, type Panel, panels, type Target } from './dashboards.js';

export interface Selector {
  readonly metric: string;
  readonly matchers: string;
  /** Where it begins in the query. */
  readonly at: number;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own placeholder
const DATA_SOURCE = '${datasource}';

/** Functions that make sense of a counter. */
const OF_COUNTERS = /\b(?:rate|irate|increase)\s*\($/;

/** The selectors of a query. */
export function selectors(expr: string): Selector[] {
  return [...expr.matchAll(/\b([a-z_:]\w*)\{([^}]*)\}/g)].map(({ 1: metric = '', 2: matchers = '', index: at }) => ({
    metric,
    matchers,
    at,
  }));
}

/** The mean of all that a summary has seen: its sum over its count. */
const isMean = (expr: string): boolean => /^(\w+)_sum\{[^}]*\} \/ \(\1_count\{/.test(expr);

/** Metrics that a query names without any selector. */
export function bare(expr: string): string[] {
  const rest = expr
    .replace(/"[^"]*"/g, '')
    .replace(/\b(?:by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replace(/\{[^}]*\}/g, '{}')
    .replace(/\[[^\]]*\]/g, '');
  const words = [...rest.matchAll(/\b([a-zA-Z_:]\w*)\b(?!\s*[({])/g)].map(([word]) => word);
  return words.filter((word) => !/^(?:and|or|unless|bool|offset|by|on)$/.test(word));
}

/** The first value of a counter, where it is counted beside its increase. */
const BIRTH =
  /\((\w+\{[^}]*\}) unless last_over_time\(\1\[10m\] offset \$__rate_interval\) and on \([^)]*\) last_over_time\(\w+\{[^}]*\}\[10m\] offset \$__rate_interval\) or (?=increase\(\1\[)/g;

function lintTarget({ refId, expr: whole, datasource }: Target, counters: ReadonlySet<string>): string[] {
  const expr = whole.replace(BIRTH, '(');
  const found: (string | true)[] = [/^[A-Z]$/.test(refId) || `refId is ${refId}`];
  found.push(datasource?.uid === DATA_SOURCE || 'the query has a data source of its own');
  for (const { metric, matchers, at } of selectors(expr)) {
    for (const label of ['job', 'instance', 'cluster'])
      found.push(matchers.includes(`${label}=~"$${label}"`) || `${metric} is not restricted to ${label}`);
    if (!counters.has(metric)) continue;
    found.push(OF_COUNTERS.test(expr.slice(0, at)) || isMean(expr) || `${metric} is a counter, and shown as it stands`);
  }
  for (const metric of bare(expr)) found.push(`${metric} has no selector`);
  for (const [call, range] of expr.matchAll(/\bi?rate\([^[]*\[([^\]]*)\]/g))
    found.push(range === '$__rate_interval' || `${call} has a fixed range`);
  return found.filter((entry) => entry !== true);
}

function lintPanel(panel: Panel, counters: ReadonlySet<string>): string[] {
  const { title = '', description = '', targets = [], datasource, fieldConfig } = panel;
  const found: (string | true)[] = [
    title !== '' || 'has no title',
    /^[A-Z].*[.*]$/.test(description) || 'has no description, in sentences',
    (fieldConfig?.defaults?.unit ?? '') !== '' || 'has no unit',
    datasource?.uid === DATA_SOURCE || 'does not take the data source of the variable',
    targets.length > 0 || 'asks nothing',
    new Set(targets.map(({ refId }) => refId)).size === targets.length || 'has two queries of one refId',
  ];
  for (const target of targets) found.push(...lintTarget(target, counters));
  return found.filter((entry) => entry !== true);
}

/** What a linter of dashboards would say, a line each. `counters` are the metrics that only rise. */
export function lint(dashboard: Dashboard, counters: ReadonlySet<string>): string[] {
  const variables = new Map(dashboard.templating.list.map((variable) => [variable.name, variable]));
  const found: (string | true)[] = [
    dashboard.editable === false || 'can be edited',
    /^tenure-\w+$/.test(dashboard.uid) || 'has no uid that lasts',
    dashboard.description !== '' || 'has no description',
    variables.get('datasource')?.type === 'datasource' || 'has no variable for the data source',
    dashboard.links.some(({ type, tags }) => type === 'dashboards' && tags?.includes('tenure')) ||
      'leads to no other dashboard',
    dashboard.links.some(({ url }) => url?.endsWith('README.md')) || 'leads to no runbooks',
    dashboard.annotations.list.some(({ expr }) => expr?.includes('leader_election_term')) ||
      'does not annotate leader changes',
  ];
  for (const name of ['job', 'instance']) {
    const variable = variables.get(name);
    found.push(
      (variable?.multi === true && variable.includeAll === true && variable.allValue === '.+') ||
        `${name} can't be several, or all as .+`,
    );
  }
  for (const { name, type, refresh, datasource } of variables.values()) {
    if (type !== 'query') continue;
    found.push(refresh === 2 || `${name} is not refreshed with the time range: ${JSON.stringify(refresh)}`);
    found.push(datasource?.uid === DATA_SOURCE || `${name} has a data source of its own`);
  }
  const all = panels(dashboard);
  const titles = all.map(({ title }) => title);
  for (const title of titles)
    found.push(titles.indexOf(title) === titles.lastIndexOf(title) || `two panels are called ${title}`);
  for (const panel of all) found.push(...lintPanel(panel, counters).map((line) => `${panel.title}: ${line}`));
  return found.filter((entry) => entry !== true).map((line) => `${dashboard.uid}: ${line}`);
}
