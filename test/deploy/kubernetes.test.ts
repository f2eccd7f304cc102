import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PodMonitor, PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, ServiceAccount } from 'kubernetes-models/v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCommand } from '../../deploy/local/process.js';
import { documents, filesBelow, project, text, yaml } from './files.js';

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
}

/** Everything of ours, with the module that has its type and its schema. */
const KINDS = {
  ConfigMap: [ConfigMap, 'kubernetes-models/v1'],
  Secret: [Secret, 'kubernetes-models/v1'],
  ServiceAccount: [ServiceAccount, 'kubernetes-models/v1'],
  Deployment: [Deployment, 'kubernetes-models/apps/v1'],
  NetworkPolicy: [NetworkPolicy, 'kubernetes-models/networking.k8s.io/v1'],
  PodDisruptionBudget: [PodDisruptionBudget, 'kubernetes-models/policy/v1'],
  PodMonitor: [PodMonitor, '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'],
  PrometheusRule: [PrometheusRule, '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'],
} as const;

const EXAMPLES = ['native', 'sidecar', 'monitoring'] as const;

/** What is wrong with a resource by the API's schema, fields that it doesn't know aside. */
function violations(resource: Resource): string[] {
  const known = KINDS[resource.kind as keyof typeof KINDS];
  if (known === undefined) return [`${resource.kind} is no kind of ours`];
  const Model = known[0] as unknown as new (data: unknown) => Resource & { validate(): void };
  try {
    const model = new Model(resource);
    model.validate();
    return model.apiVersion === resource.apiVersion ? [] : [`${resource.kind} is not of ${resource.apiVersion}`];
  } catch (error) {
    return [`${resource.kind} ${resource.metadata.name}: ${(error as Error).message}`];
  }
}

/** Fields that the API doesn't know, which its schemas let pass: the compiler refuses them in a literal. */
async function unknownFields(resources: readonly Resource[], folder: string): Promise<string[]> {
  const source = resources.map((resource, index) => {
    const from = KINDS[resource.kind as keyof typeof KINDS][1];
    return `import type { I${resource.kind} as T${index} } from '${from}';\nexport const r${index}: T${index} = ${JSON.stringify(resource)};\n`;
  });
  writeFileSync(join(folder, 'resources.ts'), source.join(''));
  const options = {
    extends: '../../tsconfig.json',
    compilerOptions: { exactOptionalPropertyTypes: false },
    include: ['*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
  const compiling = promisify(execFile)('npx', ['--no-install', 'tsc', '-p', folder, '--pretty', 'false'], {
    cwd: project,
  });
  const { stdout } = await compiling.catch((error: { stdout: string }) => error);
  return stdout.split('\n').filter((line) => line !== '');
}

/** Kustomize breaks base64 into lines, as Kubernetes allows and the schema doesn't. */
function withoutLineBreaks(resource: Resource & { data?: Record<string, string> }): Resource {
  if (resource.kind !== 'Secret') return resource;
  const data = Object.entries(resource.data ?? {}).map(([name, value]) => [name, value.replace(/\s/g, '')]);
  return { ...resource, data: Object.fromEntries(data) } as Resource;
}

const absent = findCommand('kubectl') === undefined ? 'no kubectl found' : undefined;

// Without kubectl the reason is in the name; with TENURE_REQUIRE_ALL=1 rendering fails with it.
describe.skipIf(absent !== undefined && !process.env['TENURE_REQUIRE_ALL'])(
  `the manifests for Kubernetes${absent === undefined ? '' : ` (${absent})`}`,
  () => {
    const rendered = new Map<string, Resource[]>();
    const all = (): Resource[] => [...rendered.values()].flat();
    const of = <T>(example: string, kind: string): (Resource & T)[] =>
      (rendered.get(example) ?? []).filter((resource) => resource.kind === kind) as (Resource & T)[];
    // Inside of the project, so that types are found; ignored by git.
    mkdirSync(join(project, '.cache'), { recursive: true });
    const folder = mkdtempSync(join(project, '.cache', 'kubernetes-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    beforeAll(async () => {
      for (const example of EXAMPLES) {
        const args = ['kustomize', join('deploy/kubernetes', example)];
        const { stdout } = await promisify(execFile)('kubectl', args, { cwd: project, maxBuffer: 2 ** 26 });
        rendered.set(example, documents<Resource>(stdout).map(withoutLineBreaks));
      }
    });

    it('are what the API takes', () => {
      expect(all().length).toBeGreaterThan(15);
      expect(all().flatMap(violations)).toEqual([]);
    });

    it('have no field that the API does not know', async () => {
      expect(await unknownFields(all(), folder)).toEqual([]);
    });

    it('would be refused with a wrong type, a missing field, or a misspelt one', async () => {
      const [deployment] = structuredClone(of<{ spec: Record<string, unknown> }>('native', 'Deployment'));
      if (deployment === undefined) throw new Error('no Deployment');
      expect(violations({ ...deployment, spec: { ...deployment.spec, replicas: '3' } } as Resource)[0]).toMatch(
        /replicas/,
      );
      expect(violations({ ...deployment, spec: { ...deployment.spec, selector: undefined } } as Resource)[0]).toMatch(
        /selector/,
      );
      const misspelt = { ...deployment, spec: { ...deployment.spec, progressDeadlineSecond: 3 } } as Resource;
      expect(violations(misspelt)).toEqual([]);
      expect((await unknownFields([misspelt], folder)).join()).toMatch(/progressDeadlineSecond/);
    });

    it.each(['native', 'sidecar'])(
      '%s runs without rights, as nobody in particular, on a read-only root',
      (example) => {
        const [deployment] = of<DeploymentLike>(example, 'Deployment');
        const { spec } = deployment?.spec.template ?? { spec: undefined };
        expect(spec?.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
        expect(spec?.automountServiceAccountToken).toBe(false);
        for (const container of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
          expect(container.securityContext, container.name).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(container.image, container.name).toMatch(/:\d+\.\d+\.\d+$/);
          // Throttling is a pause.
          expect(container.resources.limits, container.name).toEqual({ memory: expect.any(String) });
        }
      },
    );

    it.each(['native', 'sidecar'])('%s has probes that ask nobody whether he leads', (example) => {
      const [deployment] = of<DeploymentLike>(example, 'Deployment');
      const { containers = [], initContainers = [] } = deployment?.spec.template.spec ?? {};
      const probed = [...containers, ...initContainers].filter(({ livenessProbe }) => livenessProbe);
      expect(probed).toHaveLength(1);
      const [container] = probed;
      expect(container?.livenessProbe?.httpGet.path).toBe('/healthz');
      expect(container?.readinessProbe?.httpGet.path).toBe('/readyz');
      expect(container?.startupProbe?.httpGet.path).toBe('/healthz');
      for (const probe of [container?.livenessProbe, container?.readinessProbe, container?.startupProbe]) {
        expect(container?.ports?.map(({ name }) => name)).toContain(probe?.httpGet.port);
      }
    });

    it.each(['native', 'sidecar'])('%s gives time to drain, and never takes two candidates at once', (example) => {
      const [deployment] = of<DeploymentLike>(example, 'Deployment');
      expect(deployment?.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(30);
      expect(deployment?.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
      const [budget] = of<{ spec: { maxUnavailable: number; selector: object } }>(example, 'PodDisruptionBudget');
      expect(budget?.spec.maxUnavailable).toBe(1);
      const { matchLabels } = deployment?.spec.selector ?? { matchLabels: {} };
      expect(budget?.spec.selector).toMatchObject({ matchLabels });
      expect(deployment?.spec.template.metadata.labels).toMatchObject(matchLabels);
    });

    it('the sidecar starts before the worker, ends after it, and takes only options that it knows', async () => {
      const [deployment] = of<DeploymentLike>('sidecar', 'Deployment');
      const [agent] = deployment?.spec.template.spec.initContainers ?? [];
      expect(agent?.restartPolicy).toBe('Always');
      expect(agent?.args).toEqual(['agent']);
      const { stdout } = await promisify(execFile)('npx', ['tsx', 'src/cli/main.ts', 'agent', '--help'], {
        cwd: project,
      });
      const named = (agent?.env ?? []).map(({ name }) => name).filter((name) => name.startsWith('TENURE_'));
      expect(named.length).toBeGreaterThan(3);
      for (const name of named) expect(stdout).toContain(name);
    });

    it('every pod is let out to ZooKeeper and let in on by scrapes alone', () => {
      for (const example of ['native', 'sidecar']) {
        const [policy] = of<{ spec: { podSelector: { matchLabels: object }; policyTypes: string[] } }>(
          example,
          'NetworkPolicy',
        );
        const [deployment] = of<DeploymentLike>(example, 'Deployment');
        expect(policy?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
        expect(deployment?.spec.template.metadata.labels).toMatchObject(
          policy?.spec.podSelector.matchLabels ?? { no: 'policy' },
        );
      }
    });

    it('scrapes the ports that pods have, with the token where one is asked for', () => {
      const monitors = of<PodMonitorLike>('monitoring', 'PodMonitor');
      for (const example of ['native', 'sidecar']) {
        const [deployment] = of<DeploymentLike>(example, 'Deployment');
        const monitor = monitors.find(({ metadata }) => metadata.name === deployment?.metadata.name);
        const [endpoint] = monitor?.spec.podMetricsEndpoints ?? [];
        const { containers = [], initContainers = [], volumes = [] } = deployment?.spec.template.spec ?? {};
        const ports = [...containers, ...initContainers].flatMap((container) => container.ports ?? []);
        expect(ports.map(({ name }) => name)).toEqual([endpoint?.port]);
        expect(deployment?.spec.template.metadata.labels).toMatchObject(
          monitor?.spec.selector.matchLabels ?? { no: 'monitor' },
        );
        expect(endpoint?.interval).toBe('15s');
        const secret = endpoint?.authorization?.credentials.name;
        if (example === 'sidecar') expect(volumes.map((volume) => volume.secret?.secretName)).toContain(secret);
      }
    });

    it('has the same rules, routes and dashboards as the containers of compose', () => {
      const [rule] = of<{ spec: { groups: unknown } }>('monitoring', 'PrometheusRule');
      expect(rule?.spec.groups).toEqual(yaml<{ groups: unknown }>('alerts/out/rules.yaml').groups);
      const [secret] = of<{ data: Record<string, string> }>('monitoring', 'Secret');
      const decoded = Buffer.from(secret?.data['alertmanager.yaml'] ?? '', 'base64').toString();
      expect(decoded).toBe(text('alerts/out/alertmanager.yaml'));
      const maps = of<{ data: Record<string, string> }>('monitoring', 'ConfigMap');
      const dashboards = Object.fromEntries(maps.flatMap(({ data }) => Object.entries(data)));
      const files = filesBelow('dashboards/out');
      expect(Object.keys(dashboards).sort()).toEqual(files.map((path) => path.replace('dashboards/out/', '')).sort());
      for (const path of files) expect(dashboards[path.replace('dashboards/out/', '')]).toBe(text(path));
      for (const { metadata } of maps) expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    });
  },
);

interface ContainerLike {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly restartPolicy?: string;
  readonly env?: readonly { readonly name: string }[];
  readonly ports?: readonly { readonly name: string }[];
  readonly securityContext: object;
  readonly resources: { readonly limits: object };
  readonly livenessProbe?: ProbeLike;
  readonly readinessProbe?: ProbeLike;
  readonly startupProbe?: ProbeLike;
}

interface ProbeLike {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface DeploymentLike {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly strategy: { readonly rollingUpdate: { readonly maxUnavailable: number } };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly securityContext: object;
        readonly automountServiceAccountToken: boolean;
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly ContainerLike[];
        readonly initContainers?: readonly ContainerLike[];
        readonly volumes: readonly { readonly secret?: { readonly secretName: string } }[];
      };
    };
  };
}

interface PodMonitorLike {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly podMetricsEndpoints: readonly {
      readonly port: string;
      readonly interval: string;
      readonly authorization?: { readonly credentials: { readonly name: string } };
    }[];
  };
}
