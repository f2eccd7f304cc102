import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Workspace, workspace } from '../../deploy/local/directory.js';
import {
  launch,
  leasePort,
  type ManagedProcess,
  MissingToolError,
  type PortLease,
  waitFor,
} from '../../deploy/local/index.js';
import { findCommand } from '../../deploy/local/process.js';

interface Member {
  readonly name: string;
  readonly host: string;
  readonly client: number;
  readonly peer: number;
}

export interface EtcdOptions {
  /** The address of each member. Default 127.0.0.1 for all. */
  readonly hosts?: readonly string[];
  /** What each member's command starts with. */
  readonly commandPrefix?: (index: number) => readonly string[];
}

/** Why there is no etcd here; undefined where there is one. */
export const noEtcd = (): string | undefined =>
  findCommand('etcd') === undefined ? 'no etcd found (Debian: apt-get install etcd-server)' : undefined;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Three members of etcd with its default settings, of this process. */
export class EtcdCluster implements AsyncDisposable {
  readonly #members: readonly Member[];
  readonly #processes: readonly ManagedProcess[];
  readonly #ports: readonly PortLease[];
  readonly #workspace: Workspace;

  private constructor(
    members: readonly Member[],
    processes: readonly ManagedProcess[],
    ports: readonly PortLease[],
    home: Workspace,
  ) {
    this.#members = members;
    this.#processes = processes;
    this.#ports = ports;
    this.#workspace = home;
  }

  /** @throws {MissingToolError} */
  static async start({ hosts = [], commandPrefix = () => [] }: EtcdOptions = {}): Promise<EtcdCluster> {
    const command = findCommand('etcd');
    if (command === undefined) throw new MissingToolError(noEtcd() ?? '');
    const home = workspace('etcd');
    const ports: PortLease[] = [];
    const port = async (host: string): Promise<number> => {
      const lease = await leasePort(host);
      ports.push(lease);
      return lease.port;
    };
    const members: Member[] = [];
    for (let index = 0; index < 3; index++) {
      const host = hosts[index] ?? '127.0.0.1';
      members.push({ name: `member-${index}`, host, client: await port(host), peer: await port(host) });
    }
    const initial = members.map(({ name, host, peer }) => `${name}=http://${host}:${peer}`).join(',');
    const processes = await Promise.all(
      members.map(({ name, host, client, peer }, index) => {
        const directory = join(home.path, name);
        if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
        const at = (number: number): string => `http://${host}:${number}`;
        const options = {
          name,
          'data-dir': directory,
          'listen-client-urls': at(client),
          'advertise-client-urls': at(client),
          'listen-peer-urls': at(peer),
          'initial-advertise-peer-urls': at(peer),
          'initial-cluster': initial,
          'log-level': 'error',
        };
        const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]);
        const logFile = join(home.path, `${name}.log`);
        return launch({ name: `etcd ${name}`, command, args, prefix: commandPrefix(index), logFile });
      }),
    );
    const cluster = new EtcdCluster(members, processes, ports, home);
    await waitFor(
      () =>
        cluster.count('nobody').then(
          () => true,
          () => false,
        ),
      {
        what: 'etcd to serve',
        timeoutMs: 60_000,
      },
    );
    return cluster;
  }

  /** `host:port`, one for each member. */
  get addresses(): string[] {
    return this.#members.map(({ host, client }) => `${host}:${client}`);
  }

  get pids(): number[] {
    return this.#processes.map(({ pid }) => pid);
  }

  /** How many keys lie below a name, by a read that the quorum answers. */
  async count(name: string): Promise<number> {
    // The next one after the slash ends the range.
    const range = { key: base64(`${name}/`), range_end: base64(`${name}0`), count_only: true };
    const { count = '0' } = (await this.#ask(0, 'kv/range', range)) as { count?: string };
    return Number(count);
  }

  /** Makes that member the leader. */
  async lead(index: number): Promise<void> {
    await waitFor(
      async () => {
        const states = await Promise.all(this.#members.map((_, each) => this.#state(each)));
        const leader = states.findIndex(({ id, leader }) => id === leader);
        const target = states[index]?.id;
        if (leader === index) return true;
        if (leader >= 0 && target !== undefined)
          await this.#ask(leader, 'maintenance/transfer-leadership', { targetID: target });
        return false;
      },
      { what: `etcd member ${index} to lead`, timeoutMs: 20_000, intervalMs: 200 },
    );
  }

  /** What the members count since their start, those named summed up over all members. */
  async counters(): Promise<Counters> {
    const texts = await Promise.all(
      this.addresses.map(async (address) => (await fetch(`http://${address}/metrics`)).text()),
    );
    const sum = (pattern: RegExp): number =>
      texts.reduce((total, text) => total + [...text.matchAll(pattern)].reduce((all, [, n]) => all + Number(n), 0), 0);
    // What members ask one another for stands in other counters.
    return {
      requests: sum(/^grpc_server_msg_received_total\{.*\} (\S+)$/gm),
      signsOfLife: sum(/^grpc_server_msg_received_total\{grpc_method="LeaseKeepAlive".*\} (\S+)$/gm),
      replies: sum(/^grpc_server_msg_sent_total\{.*\} (\S+)$/gm),
      requestBytes: sum(/^etcd_network_client_grpc_received_bytes_total (\S+)$/gm),
      replyBytes: sum(/^etcd_network_client_grpc_sent_bytes_total (\S+)$/gm),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.kill()));
    for (const port of this.#ports) port.release();
    this.#workspace.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #state(index: number): Promise<{ id: string; leader: string }> {
    const status = (await this.#ask(index, 'maintenance/status', {})) as {
      header: { member_id: string };
      leader: string;
    };
    return { id: status.header.member_id, leader: status.leader };
  }

  async #ask(index: number, what: string, body: object): Promise<unknown> {
    const response = await fetch(`http://${this.addresses[index]}/v3/${what}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(5_000),
    });
    if (!response.ok) throw new Error(`etcd answers ${response.status}: ${await response.text()}`);
    return response.json();
  }
}

/** Messages of clients, and bytes of their contents. */
export interface Counters {
  readonly requests: number;
  /** Of the requests. */
  readonly signsOfLife: number;
  readonly replies: number;
  readonly requestBytes: number;
  readonly replyBytes: number;
}
