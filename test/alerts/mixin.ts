import { fileURLToPath } from 'node:url';
import { output } from '../support/tools.js';

export const alertsFolder = fileURLToPath(new URL('../../alerts', import.meta.url));

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly keep_firing_for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Group {
  readonly name: string;
  readonly rules: readonly Rule[];
}

/** The mixin's rules with this on top of the config, in Jsonnet. */
export async function groups(config = '{}'): Promise<Group[]> {
  const parts = ['../dashboards/config.libsonnet', 'alerts.libsonnet', 'site.libsonnet'].map(
    (file) => `(import '${file}')`,
  );
  const rendered = await output(
    'jsonnet',
    ['-e', `(${parts.join(' + ')} + { _config+:: ${config} }).prometheusAlerts`],
    alertsFolder,
  );
  return (JSON.parse(rendered) as { groups: Group[] }).groups;
}

export async function rules(config?: string): Promise<Rule[]> {
  return (await groups(config)).flatMap((group) => group.rules);
}

/** Seconds of a duration in one unit. */
export function seconds(duration: string): number {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  return Number(count) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? Number.NaN);
}
