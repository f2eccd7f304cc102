import { join } from 'node:path';
import { type Workspace, workspace } from '../directory.js';
import { leaseGivenPort, leasePort, type PortLease } from '../ports.js';
import { ServerFailedError } from '../process.js';
import { waitFor } from '../wait.js';
import { ensureArchive } from './archive.js';
import type { ServerPlace } from './config.js';
import { type Distribution, type Progress, resolveDistribution } from './distribution.js';
import type { Mode } from './four-letter-word.js';
import { ZooKeeperServer } from './server.js';

export interface EnsembleOptions {
  /** How many servers. */
  readonly size?: 1 | 3 | 5;
  /** ZooKeeper's version; default `TENURE_ZOOKEEPER_VERSION`, else the one in pom.xml. */
  readonly version?: string;
  /** Milliseconds; sessions last from 2 to 20 of these. Default 2000. */
  readonly tickTime?: number;
  /** Ticks that a follower has to join. Default 10. */
  readonly initLimit?: number;
  /** Ticks that a follower may lag before it is dropped. Default 5. */
  readonly syncLimit?: number;
  /** Where data and logs go, and stay. Default: a temporary folder that `close` removes. */
  readonly directory?: string;
  /** The address of each server. Default 127.0.0.1 for all. */
  readonly bindHosts?: readonly string[];
  /** The client port of each server. Default: free ones. */
  readonly clientPorts?: readonly number[];
  /** What each server's command starts with, and must end in executing the rest: `['ip', 'netns', 'exec', 'a']`. */
  readonly commandPrefix?: (index: number) => readonly string[];
  /** More lines for the configuration. */
  readonly extraConfig?: readonly string[] | ((index: number) => readonly string[]);
  /** More options for the Java virtual machine. */
  readonly javaOptions?: readonly string[];
  /** Whether each server exports metrics for Prometheus. Default false. */
  readonly metrics?: boolean;
  /** The port of each server's metrics, instead of free ones; implies `metrics`. */
  readonly metricsPorts?: readonly number[];
  /** Whether a write waits for the disk, as in production. Default true. */
  readonly fsync?: boolean;
  /** Milliseconds until the start is given up. Default 60000. */
  readonly timeoutMs?: number;
  /** Told what goes on, a line at a time. */
  readonly onProgress?: Progress;
}

/** A ZooKeeper ensemble of this process. It doesn't outlive it. */
export class Ensemble implements AsyncDisposable {
  readonly servers: readonly ZooKeeperServer[];
  readonly version: string;
  readonly directory: string;
  readonly #workspace: Workspace;
  readonly #ports: readonly PortLease[];

  constructor(servers: readonly ZooKeeperServer[], version: string, home: Workspace, ports: readonly PortLease[]) {
    this.servers = servers;
    this.version = version;
    this.directory = home.path;
    this.#workspace = home;
    this.#ports = ports;
  }

  /** `host:port,…` of all servers. */
  get connectString(): string {
    return this.servers.map((server) => server.address).join(',');
  }

  /** Which server leads the ensemble now: with a standalone server that one, without a quorum none. */
  async leader(): Promise<ZooKeeperServer | undefined> {
    const modes = await Promise.all(this.servers.map((server) => server.mode()));
    if (this.servers.length === 1) return modes[0] === 'standalone' ? this.servers[0] : undefined;
    const claimants = this.servers.filter((_, index) => modes[index] === 'leader');
    const backed = await Promise.all(claimants.map((server) => this.#hasQuorum(server)));
    return claimants.find((_, index) => backed[index]);
  }

  /** The running servers that don't lead. */
  async followers(): Promise<ZooKeeperServer[]> {
    const modes = await Promise.all(this.servers.map((server) => server.mode()));
    return this.servers.filter((_, index) => modes[index] === 'follower');
  }

  /** Waits until a server leads the ensemble, other than `not`. */
  waitForLeader({
    not,
    timeoutMs = 60_000,
  }: {
    not?: ZooKeeperServer;
    timeoutMs?: number;
  } = {}): Promise<ZooKeeperServer> {
    return waitFor(
      async () => {
        const leader = await this.leader();
        return leader !== not && leader;
      },
      { what: not ? `a leader other than server ${not.id}` : 'a leader of the ensemble', timeoutMs },
    );
  }

  /**
   * Has whoever leads start anew until one leads that suits, at most five times: on a busy machine servers don't start together, and
   * then it isn't the last of them that leads.
   *
   * @returns who leads in the end
   */
  async elect(suits: (leader: ZooKeeperServer) => boolean): Promise<ZooKeeperServer> {
    for (let tries = 0; ; tries++) {
      const leader = await this.waitForLeader();
      if (suits(leader) || tries === 5) return leader;
      await leader.restart();
      await this.waitForQuorum();
    }
  }

  /**
   * Waits until a leader has a majority behind it, and every server that runs, and isn't frozen, serves, and none but that one
   * takes itself for the leader. One that was frozen may for a while, and tells clients of the next leader's sessions that they have expired.
   */
  async waitForQuorum(timeoutMs = 60_000): Promise<void> {
    const awake = this.servers.filter((server) => server.running && !server.frozen);
    await Promise.all(awake.map((server) => server.waitUntilServing(timeoutMs)));
    await this.waitForLeader({ timeoutMs });
    const leads = (mode: Mode) => mode === 'leader' || mode === 'standalone';
    const alone = async () => (await Promise.all(awake.map((server) => server.mode()))).filter(leads).length <= 1;
    await waitFor(alone, { what: 'a server that led before to notice', timeoutMs });
  }

  /** Thaws what is frozen, starts what doesn't run, and waits for the quorum: what a test killed, its successor finds alive. */
  async restore(timeoutMs?: number): Promise<void> {
    for (const server of this.servers) if (server.frozen) server.thaw();
    await Promise.all(this.servers.map((server) => server.running || server.start()));
    await this.waitForQuorum(timeoutMs);
  }

  /** Ends all servers at once and removes the temporary folder. */
  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    for (const port of this.#ports) port.release();
    this.#workspace.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A leader that was cut off calls itself one for a while yet: whether it has followers tells. */
  async #hasQuorum(leader: ZooKeeperServer): Promise<boolean> {
    const report = await leader.ask('mntr').catch(() => '');
    const synced = Number(/^zk_synced_followers\t([\d.]+)/m.exec(report)?.[1] ?? Number.NaN);
    return synced + 1 > this.servers.length / 2;
  }
}

/** Fills the cache, if need be, with all that a start takes: before tests, say, whose time is limited. */
export async function fetchZooKeeper(version?: string, onProgress: Progress = () => {}): Promise<Distribution> {
  const distribution = await resolveDistribution(version, onProgress);
  await ensureArchive(distribution, onProgress);
  return distribution;
}

/** Starts a ZooKeeper ensemble on free ports of this machine and waits until it serves. */
export async function startEnsemble(options: EnsembleOptions = {}): Promise<Ensemble> {
  const progress = options.onProgress ?? (() => {});
  const distribution = await fetchZooKeeper(options.version, progress);
  if (wantsMetrics(options) && !distribution.hasPrometheus) {
    throw new Error(
      "this ZooKeeper lacks zookeeper-prometheus-metrics: install Maven (Debian: apt-get install maven), or start without 'metrics'",
    );
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryStart(distribution, options, progress);
    } catch (error) {
      // Somebody took a port between our look and the server's.
      const again = error instanceof ServerFailedError && /BindException|Address already in use/.test(error.message);
      if (!again || attempt === 3 || options.clientPorts || options.directory) throw error;
      progress('a port was taken meanwhile: once more');
    }
  }
}

const wantsMetrics = (options: EnsembleOptions): boolean => options.metrics ?? options.metricsPorts !== undefined;

async function tryStart(distribution: Distribution, options: EnsembleOptions, progress: Progress): Promise<Ensemble> {
  const start = performance.now();
  const { size = 3, tickTime = 2_000, initLimit = 10, syncLimit = 5, fsync = true, timeoutMs = 60_000 } = options;
  const { extraConfig = [], javaOptions = [] } = options;
  const home = workspace('zookeeper', options.directory);
  const ports: PortLease[] = [];
  const take = async (host: string, wanted: number | undefined): Promise<number> => {
    const lease = await (wanted === undefined ? leasePort(host) : leaseGivenPort(wanted, host));
    ports.push(lease);
    return lease.port;
  };
  const servers: ZooKeeperServer[] = [];
  try {
    const all: ServerPlace[] = [];
    for (let index = 0; index < size; index++) {
      const host = options.bindHosts?.[index] ?? '127.0.0.1';
      all.push({
        id: index + 1,
        directory: join(home.path, `server-${index + 1}`),
        host,
        clientPort: await take(host, options.clientPorts?.[index]),
        quorumPort: await take(host, undefined),
        electionPort: await take(host, undefined),
        metricsPort: wantsMetrics(options) ? await take(host, options.metricsPorts?.[index]) : undefined,
      });
    }
    for (const [index, place] of all.entries()) {
      const extra = typeof extraConfig === 'function' ? extraConfig(index) : extraConfig;
      const settings = { tickTime, initLimit, syncLimit, extraConfig: extra };
      const commandPrefix = options.commandPrefix?.(index) ?? [];
      servers.push(
        new ZooKeeperServer({ distribution, place, all, settings, jvm: { fsync, javaOptions }, commandPrefix }),
      );
    }
    progress(
      `starting ${size} ZooKeeper server${size === 1 ? '' : 's'}, version ${distribution.version}, in ${home.path}`,
    );
    await Promise.all(servers.map((server) => server.start()));
    const ensemble = new Ensemble(servers, distribution.version, home, ports);
    await ensemble.waitForQuorum(timeoutMs);
    progress(
      `ZooKeeper serves at ${ensemble.connectString} after ${((performance.now() - start) / 1000).toFixed(1)} s`,
    );
    return ensemble;
  } catch (error) {
    await Promise.all(servers.map((server) => server.kill()));
    for (const port of ports) port.release();
    // The folder stays for whoever reads the error, which names the log in it; the system's clean-up gets it in time.
    throw error;
  }
}
