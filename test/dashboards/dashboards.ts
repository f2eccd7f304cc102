import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const dashboardsFolder = fileURLToPath(new URL('../../dashboards', import.meta.url));

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant: boolean;
  readonly range: boolean;
  readonly legendFormat: string;
  readonly format: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title?: string;
  readonly description?: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: { readonly defaults?: { readonly unit?: string } };
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly links?: readonly { readonly title: string; readonly url: string }[];
  readonly panels?: readonly Panel[];
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: unknown;
  readonly refresh?: unknown;
  readonly multi?: boolean;
  readonly includeAll?: boolean;
  readonly allValue?: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly editable: boolean;
  readonly tags: readonly string[];
  readonly panels: readonly Panel[];
  readonly links: readonly { readonly type: string; readonly url?: string; readonly tags?: readonly string[] }[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
}

/** The rendered dashboards. */
export function dashboards(): Dashboard[] {
  const folder = join(dashboardsFolder, 'out');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Dashboard);
}

/** A dashboard's panels, rows left out. */
export function panels(dashboard: Dashboard): Panel[] {
  const all = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
  return all.filter((panel) => panel.type !== 'row');
}

/** A query as Prometheus takes it: every variable has its value, or else matches all. */
export function filled(expr: string, values: Readonly<Record<string, string>> = {}): string {
  const defaults = {
    __rate_interval: '1m',
    __range: '3h',
    cluster: '.*',
    job: '.+',
    instance: '.+',
    election: '.+',
    resource: '.+',
  };
  return Object.entries({ ...defaults, ...values }).reduce(
    (text, [name, value]) => text.replaceAll(`$${name}`, () => value),
    expr,
  );
}
