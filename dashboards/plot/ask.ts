import { type Dashboard, filled, type Panel, panels, type Target } from '../../test/dashboards/dashboards.js';

export interface Span {
  /** Seconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly step: number;
  /** For `$__rate_interval`. */
  readonly rateInterval: string;
  /** What variables are set to, beyond everything. */
  readonly variables: Readonly<Record<string, string>>;
}

/** One series of one query. */
export interface Series {
  readonly refId: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Seconds since 1970, and the value. */
  readonly values: readonly (readonly [number, number])[];
}

/** A panel as it was rendered, with what its own queries gave. */
export interface PlottedPanel extends Panel {
  readonly series: readonly Series[];
}

interface Answer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value?: readonly [number, string];
      readonly values?: readonly (readonly [number, string])[];
    }[];
  };
}

/** Asks all queries of all panels, rows included as they are. */
export async function ask(prometheus: string, dashboard: Dashboard, span: Span): Promise<PlottedPanel[]> {
  const asked = new Set(panels(dashboard));
  return Promise.all(
    dashboard.panels.map(async (panel) => {
      const targets = asked.has(panel) ? (panel.targets ?? []) : [];
      return { ...panel, series: (await Promise.all(targets.map((target) => query(prometheus, target, span)))).flat() };
    }),
  );
}

async function query(prometheus: string, target: Target, span: Span): Promise<Series[]> {
  const { start, end, step, rateInterval, variables } = span;
  const length = `${Math.round(end - start)}s`;
  const expr = filled(target.expr, { __rate_interval: rateInterval, __range: length, ...variables });
  const [path, when] = target.instant
    ? ['query', { time: String(end) }]
    : ['query_range', { start: String(start), end: String(end), step: String(step) }];
  const answer = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams({ query: expr, ...when })}`);
  if (!answer.ok) throw new Error(`${expr}: ${await answer.text()}`);
  const { data } = (await answer.json()) as Answer;
  return data.result.map(({ metric, value, values = value === undefined ? [] : [value] }) => ({
    refId: target.refId,
    name: nameOf(target.legendFormat, metric),
    labels: metric,
    values: values.map(([at, text]) => [at, Number(text)] as const).filter(([, number]) => !Number.isNaN(number)),
  }));
}

/** As Grafana's legends do. */
function nameOf(format: string, labels: Readonly<Record<string, string>>): string {
  if (format !== '__auto') return format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => labels[label] ?? '');
  return Object.entries(labels)
    .filter(([label]) => label !== '__name__')
    .map(([, value]) => value)
    .join(' ');
}
