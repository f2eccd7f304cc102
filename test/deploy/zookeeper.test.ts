import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, type ManagedProcess, waitFor } from '../../deploy/local/index.js';
import { resolveDistribution } from '../../deploy/local/zookeeper/distribution.js';
import { javaArguments } from '../../deploy/local/zookeeper/jvm.js';
import { cannotBuild } from './dry-build.js';
import { text, yaml } from './files.js';

const absent = cannotBuild();
const IDS = [1, 2, 3] as const;

/** The health check of docker-compose.yml, with bash for netcat. */
const healthCheck = (port: number): string => {
  const { services } = yaml<{ services: Record<string, { healthcheck: { test: string[] } }> }>('docker-compose.yml');
  const [, command = ''] = services['zookeeper-1']?.healthcheck.test ?? [];
  expect(command).toMatch(/^echo srvr \| nc -w 2 127\.0\.0\.1 2181 \| grep -q '\^Mode: '$/);
  return `exec 3<>/dev/tcp/127.0.0.1/${port}; echo srvr >&3; timeout 2 cat <&3 | ${command.split(' | ')[2]}`;
};

// In a network of its own, so that fixed ports are free; that takes root.
describe.skipIf(absent !== undefined && !process.env['TENURE_REQUIRE_ALL'])(
  `deploy/zookeeper/zoo.cfg${absent === undefined ? '' : ` (${absent})`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenure-zoo-'));
    const servers = new Map<number, ManagedProcess>();
    let network: ManagedProcess;

    /** What differs is where data lies, and the two ports that three servers at one address can't share. */
    function configuration(id: number): string {
      const file = join(folder, `zoo-${id}.cfg`);
      const ours = text('deploy/zookeeper/zoo.cfg')
        .replace('dataDir=/data', `dataDir=${folder}/${id}/data`)
        .replace('dataLogDir=/datalog', `dataLogDir=${folder}/${id}/log`)
        .replace('clientPort=2181', `clientPort=${2180 + id}`)
        .replace('httpPort=7000', `httpPort=${6999 + id}`);
      writeFileSync(file, ours);
      mkdirSync(join(folder, String(id), 'data'), { recursive: true });
      writeFileSync(join(folder, String(id), 'data', 'myid'), `${id}\n`);
      return file;
    }

    const inNetwork = ['nsenter', '--net', '--target'];
    async function within(script: string): Promise<{ ok: boolean; out: string }> {
      const [program = '', ...args] = [...inNetwork, String(network.pid), 'bash', '-c', script];
      return promisify(execFile)(program, args, { timeout: 10_000 }).then(
        ({ stdout }) => ({ ok: true, out: stdout }),
        (error: { stdout?: string }) => ({ ok: false, out: error.stdout ?? '' }),
      );
    }

    async function start(id: number): Promise<void> {
      const distribution = await resolveDistribution();
      const hosts = `-Djdk.net.hosts.file=${join(folder, 'hosts')}`;
      const args = javaArguments(distribution, { fsync: false, javaOptions: [hosts] }, configuration(id));
      servers.set(
        id,
        await launch({
          name: `zookeeper-${id}`,
          command: distribution.java,
          args,
          prefix: [...inNetwork, String(network.pid), '--'],
          logFile: join(folder, `${id}.log`),
        }),
      );
    }

    const healthy = (id: number) => within(healthCheck(2180 + id)).then(({ ok }) => ok);

    beforeAll(async () => {
      if (absent !== undefined) throw new Error(absent);
      writeFileSync(join(folder, 'hosts'), IDS.map((id) => `127.0.1.${id} zookeeper-${id}\n`).join(''));
      network = await launch({
        name: 'network',
        command: 'unshare',
        args: ['--net', 'sh', '-c', 'ip link set lo up; exec sleep infinity'],
        logFile: join(folder, 'network.log'),
      });
      await waitFor(async () => (await within('ip -o addr show lo')).out.includes('127.0.0.1'), { what: 'a network' });
    }, 30_000);

    afterAll(async () => {
      await Promise.all([...servers.values(), network].map((one) => one?.kill()));
      rmSync(folder, { recursive: true, force: true });
    });

    it('is taken by a server, which is unhealthy as long as it has no quorum', async () => {
      await start(1);
      const page = () =>
        within('exec 3<>/dev/tcp/127.0.0.1/7000; printf "GET /metrics HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3');
      await waitFor(async () => (await page()).out.includes('jvm_'), {
        what: `metrics: ${readFileSync(join(folder, '1.log'), 'utf8').slice(-2_000)}`,
        timeoutMs: 60_000,
        intervalMs: 500,
      });
      expect((await within('exec 3<>/dev/tcp/127.0.0.1/2181; echo srvr >&3; timeout 2 cat <&3')).out).toMatch(
        /not currently serving/,
      );
      expect(await healthy(1)).toBe(false);
    }, 90_000);

    it('makes three servers an ensemble, each of them healthy, that tells no more words than it must', async () => {
      await Promise.all([start(2), start(3)]);
      for (const id of IDS) {
        await waitFor(() => healthy(id), { what: `server ${id} to be healthy`, timeoutMs: 60_000, intervalMs: 500 });
      }
      const modes = await Promise.all(
        IDS.map(
          async (id) =>
            /Mode: (\w+)/.exec(
              (await within(`exec 3<>/dev/tcp/127.0.0.1/${2180 + id}; echo srvr >&3; timeout 2 cat <&3`)).out,
            )?.[1],
        ),
      );
      expect(modes.sort()).toEqual(['follower', 'follower', 'leader']);
      const { out } = await within('exec 3<>/dev/tcp/127.0.0.1/2181; echo dump >&3; timeout 2 cat <&3');
      expect(out).toMatch(/not in the whitelist/);
    }, 150_000);
  },
);
