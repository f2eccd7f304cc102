import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MissingToolError } from '../local/index.js';
import { findCommand } from '../local/process.js';
import type { Pace } from './pace.js';

const alerts = fileURLToPath(new URL('../../alerts', import.meta.url));

/** The elections that the workers take part in; the first one has all the work. */
export const ELECTIONS = ['settlement', 'reports'] as const;

/** What Prometheus scrapes. */
export interface ScrapeTarget {
  readonly job: string;
  /** The label `instance`. */
  readonly name: string;
  /** `host:port`. */
  readonly address: string;
}

/** Prometheus' configuration and rules. @returns the configuration's path */
export async function prometheusFiles(
  directory: string,
  pace: Pace,
  targets: readonly ScrapeTarget[],
  alertmanager: string,
): Promise<string> {
  const short = Object.entries(pace.alerts).map(([name, values]) => `${name}+: ${JSON.stringify(values)},`);
  const config = `{
    elections: ${JSON.stringify(ELECTIONS)},
    tasks: [{ task: 'payouts', election: 'settlement', within: '10m' }],
    alerts+: { ${short.join(' ')} },
  }`;
  await render('rules.jsonnet', config, join(directory, 'rules.yaml'));
  const jobs: Record<string, Record<string, string>> = {};
  for (const { job, name, address } of targets) jobs[job] = { ...jobs[job], [name]: address };
  const addresses = { every: `${pace.scrapeSeconds}s`, alertmanagers: [alertmanager], jobs };
  const file = join(directory, 'prometheus.yaml');
  await render('prometheus.jsonnet', `{ prometheus+: ${JSON.stringify(addresses)} }`, file);
  return file;
}

/** Alertmanager's configuration, with its receivers at this address. @returns its path */
export async function alertmanagerFile(directory: string, pace: Pace, inbox: string): Promise<string> {
  const { wait, interval } = pace.group;
  const timing = `{ group_wait: '${wait}', group_interval: '${interval}', repeat_interval: '1h' }`;
  const receiver = (name: string) => `{ webhook_configs: [{ url: '${inbox}/${name}', send_resolved: true }] }`;
  const config = `{
    alertmanager+: {
      receivers: { page: ${receiver('page')}, warn: ${receiver('warn')} },
      page: ${timing},
      warn: ${timing},
      // Whoever tries this on a Sunday night wants to be paged too.
      maintenance: [],
    },
  }`;
  const file = join(directory, 'alertmanager.yaml');
  await render('alertmanager.jsonnet', config, file);
  return file;
}

/** The mixin's own rendering, with this on top of its config. */
async function render(source: string, config: string, file: string): Promise<void> {
  const jsonnet = findCommand('jsonnet');
  if (jsonnet === undefined)
    throw new MissingToolError('no jsonnet found: install it (Debian: apt-get install jsonnet)');
  const { stdout } = await promisify(execFile)(jsonnet, ['-S', '--tla-code', `config=${config}`, source], {
    cwd: alerts,
    timeout: 30_000,
  });
  writeFileSync(file, stdout);
}
