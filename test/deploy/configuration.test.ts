import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { alertmanagerFile, ELECTIONS, prometheusFiles } from '../../deploy/stack/configuration.js';
import { NORMAL } from '../../deploy/stack/pace.js';
import { settingsFrom } from '../../deploy/stack/settings.js';
import { needs, outcome } from '../support/tools.js';
import { documents, project, text, yaml } from './files.js';

const folder = mkdtempSync(join(tmpdir(), 'tenure-configuration-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inFolder = <T>(name: string): T => documents<T>(readFileSync(join(folder, name), 'utf8'))[0] as T;

interface Prometheus {
  readonly global: Readonly<Record<string, string>>;
  readonly rule_files: readonly string[];
  readonly alerting: unknown;
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly static_configs: readonly {
      readonly targets: readonly string[];
      readonly labels: Readonly<Record<string, string>>;
    }[];
  }[];
}

interface Rules {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly {
      readonly alert: string;
      readonly labels: unknown;
      readonly annotations: { readonly summary: string };
    }[];
  }[];
}

interface Alertmanager {
  readonly route: {
    readonly routes: readonly {
      readonly matchers: unknown;
      readonly routes: readonly { readonly matchers: unknown }[];
    }[];
  };
  readonly inhibit_rules: unknown;
}

/** What must not depend on where it runs: jobs, and the labels that dashboards and alerts go by. */
const shape = ({ scrape_configs, rule_files }: Prometheus) => ({
  rule_files,
  jobs: scrape_configs.map(({ job_name, static_configs }) => ({
    job_name,
    labels: static_configs.map(({ labels }) => labels),
  })),
});

describe('the stack on one machine and the containers', () => {
  it('have one configuration of Prometheus, but for addresses and intervals', async (context) => {
    needs(context, 'jsonnet', 'promtool');
    const containers = yaml<Prometheus>('alerts/out/prometheus.yaml');
    const targets = [1, 2, 3].flatMap((n) => [
      { job: 'worker', name: `worker-${n}`, address: `127.0.0.1:${9000 + n}` },
      { job: 'zookeeper', name: `zookeeper-${n}`, address: `127.0.0.1:${7000 + n}` },
    ]);
    const file = await prometheusFiles(folder, NORMAL, targets, '127.0.0.1:9093');
    expect(await outcome('promtool', ['check', 'config', file])).toMatchObject({ code: 0 });
    const stack = inFolder<Prometheus>('prometheus.yaml');
    // The stack has no sidecar.
    const jobs = containers.scrape_configs.filter(({ job_name }) => job_name !== 'agent');
    expect(shape(stack)).toEqual(shape({ ...containers, scrape_configs: jobs }));
    expect(stack.scrape_configs[0]?.static_configs[0]?.targets).toEqual(['127.0.0.1:9001']);
  });

  it('have one set of rules, but for windows and the elections that must exist', async (context) => {
    needs(context, 'jsonnet');
    const names = ({ groups }: Rules) =>
      groups.flatMap(({ name, rules }) =>
        rules.map(({ alert, labels, annotations }) => ({ name, alert, labels, summary: annotations.summary })),
      );
    await prometheusFiles(folder, NORMAL, [], '127.0.0.1:9093');
    const stack = names(inFolder<Rules>('rules.yaml'));
    const containers = names(yaml<Rules>('alerts/out/rules.yaml'));
    // One more election, one more rule of that kind.
    const once = (all: typeof stack) => [...new Map(all.map((rule) => [rule.alert, rule])).values()];
    expect(once(stack)).toEqual(once(containers));
    expect(stack.length - containers.length).toBe(ELECTIONS.length - 1);
  });

  it('have one configuration of Alertmanager, but for waits, receivers and maintenance', async (context) => {
    needs(context, 'jsonnet', 'amtool');
    const file = await alertmanagerFile(folder, NORMAL, 'http://127.0.0.1:9099');
    expect(await outcome('amtool', ['check-config', file])).toMatchObject({ code: 0 });
    const matchers = ({ route }: Alertmanager) =>
      route.routes.map((ours) => [ours.matchers, ours.routes.map((child) => child.matchers)]);
    const stack = inFolder<Alertmanager>('alertmanager.yaml');
    const containers = yaml<Alertmanager>('alerts/out/alertmanager.yaml');
    expect(matchers(stack)).toEqual(matchers(containers));
    expect(stack.inhibit_rules).toEqual(containers.inhibit_rules);
  });

  it('are taken by Prometheus and Alertmanager as they are mounted', async (context) => {
    needs(context, 'promtool', 'amtool');
    const out = join(project, 'alerts/out');
    expect(await outcome('promtool', ['check', 'config', '--syntax-only', join(out, 'prometheus.yaml')])).toMatchObject(
      { code: 0 },
    );
    expect(await outcome('promtool', ['check', 'rules', join(out, 'rules.yaml')])).toMatchObject({ code: 0 });
    expect(await outcome('amtool', ['check-config', join(out, 'alertmanager.yaml')])).toMatchObject({ code: 0 });
  });
});

describe('the settings of a worker', () => {
  it('come from the environment, the password from a file that is read again each time', () => {
    const settings = settingsFrom({
      ZK_SERVERS: 'a:2181',
      WORKER_NAME: 'w',
      PGPASSWORD_FILE: join(project, 'deploy/compose/postgres-password'),
    });
    expect(settings).toMatchObject({
      name: 'w',
      servers: 'a:2181',
      pagesHost: '127.0.0.1',
      pagesPort: 9464,
      sessionTimeoutMs: 10_000,
    });
    expect(settings.password?.()).toBe(text('deploy/compose/postgres-password').trim());
  });

  it('are refused by name', () => {
    expect(() => settingsFrom({})).toThrow(/ZK_SERVERS is not set/);
    expect(() => settingsFrom({ ZK_SERVERS: 'a', PAGES_PORT: '80 80' })).toThrow(/PAGES_PORT is "80 80"/);
  });
});
