import type { Stack } from '../../deploy/stack/running.js';
import { dashboards, filled, panels, type Target } from '../dashboards/dashboards.js';

/** Queries that have nothing to say even in a run in which a lot goes wrong, each with the reason. */
const EXCUSED: Readonly<Record<string, string>> = {};

interface Matrix {
  readonly data: { readonly result: readonly { readonly values: readonly (readonly [number, string])[] }[] };
}

/** Whether a query has a value, as Grafana would ask it: now, or over the whole run. */
async function answers(stack: Stack, { expr, instant }: Target, seconds: number): Promise<boolean> {
  const query = filled(expr, { __rate_interval: '30s', __range: `${seconds}s` });
  if (instant) return (await stack.query(query)).some(({ value }) => !Number.isNaN(value));
  const end = Date.now() / 1_000;
  const range = { query, start: String(end - seconds), end: String(end), step: '5' };
  const { data } = (await stack.prometheus.get('/api/v1/query_range', range)) as Matrix;
  return data.result.some(({ values }) => values.some(([, value]) => !Number.isNaN(Number(value))));
}

/** Every query of every panel that has no data in this run, a line each. */
export async function silentPanels(stack: Stack, seconds = 180): Promise<string[]> {
  const silent: string[] = [];
  for (const dashboard of dashboards()) {
    for (const { title = '', targets = [] } of panels(dashboard)) {
      for (const target of targets) {
        const name = `${dashboard.uid}: ${title} ${target.refId}`;
        if (name in EXCUSED || (await answers(stack, target, seconds))) continue;
        silent.push(`${name}: ${target.expr}`);
      }
    }
  }
  return silent;
}
