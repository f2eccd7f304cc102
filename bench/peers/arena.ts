import { readFileSync } from 'node:fs';
import { type Ensemble, startEnsemble, waitFor } from '../../deploy/local/index.js';
import { Operator } from '../../test/support/operator.js';
import type { Contender, Stand } from './contenders.js';
import { EtcdCluster } from './etcd.js';
import { Player } from './player.js';

/** The local servers' virtual machines compile for a quick start otherwise. */
const FULL_SPEED = ['-XX:TieredStopAtLevel=4', '-Xmx1g'];

/** Ticks of the processor clock in a second, as /proc counts. */
const TICKS_PER_SECOND = 100;

/** One ensemble of ZooKeeper and one cluster of etcd, three servers each, for everybody; both write to the disk. */
export class Arena implements AsyncDisposable {
  readonly ensemble: Ensemble;
  readonly etcd: EtcdCluster;
  readonly operator: Operator;
  readonly timeoutMs: number;
  #elections = 0;

  private constructor(ensemble: Ensemble, etcd: EtcdCluster, operator: Operator, timeoutMs: number) {
    this.ensemble = ensemble;
    this.etcd = etcd;
    this.operator = operator;
    this.timeoutMs = timeoutMs;
  }

  static async open({ tickTime, timeoutMs }: { tickTime: number; timeoutMs: number }): Promise<Arena> {
    const [ensemble, etcd] = await Promise.all([
      startEnsemble({ tickTime, javaOptions: FULL_SPEED }),
      EtcdCluster.start(),
    ]);
    const operator = await Operator.at(ensemble.connectString);
    await operator.session.create('/peers', new Uint8Array(), 'persistent');
    return new Arena(ensemble, etcd, operator, timeoutMs);
  }

  /** An election that nobody has used, seen by a contender of this kind. */
  stand(contender: Contender, timeoutMs = this.timeoutMs): Stand {
    const servers = contender.coordinator === 'etcd' ? this.etcd.addresses.join(',') : this.ensemble.connectString;
    return { servers, election: `${contender.name}-${this.#elections++}`, timeoutMs };
  }

  /** How many stand in a queue, by a server's own word. */
  async standing(contender: Contender, queue: string): Promise<number> {
    if (contender.coordinator === 'etcd') return this.etcd.count(queue);
    await this.operator.session.sync('/');
    return (await this.operator.session.children(queue))?.names.length ?? 0;
  }

  async queueOf(contender: Contender, queue: string, count: number, timeoutMs = 120_000): Promise<void> {
    await waitFor(async () => (await this.standing(contender, queue)) === count, {
      what: `${count} candidates of ${contender.label} in ${queue}`,
      timeoutMs,
      intervalMs: 20,
    });
  }

  candidate(contender: Contender, stand: Stand, id: string): Promise<Player> {
    return Player.start(contender.candidate(stand, id));
  }

  /** Processor time that the servers have taken so far, all three together. */
  cpuSeconds(coordinator: Contender['coordinator']): number {
    const pids = coordinator === 'etcd' ? this.etcd.pids : this.ensemble.servers.map(({ pid }) => pid);
    return pids.reduce<number>((sum, pid) => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/^.*\) /, '')
        .split(' ');
      return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    }, 0);
  }

  /** Packets or messages of clients that the servers have received so far, signs of life included. */
  async requests(coordinator: Contender['coordinator']): Promise<number> {
    if (coordinator === 'etcd') return (await this.etcd.counters()).requests;
    const reports = await Promise.all(this.ensemble.servers.map((server) => server.ask('mntr')));
    return reports.reduce((sum, report) => sum + Number(/^zk_packets_received\t(\d+)/m.exec(report)?.[1]), 0);
  }

  async close(): Promise<void> {
    await this.operator.close();
    await Promise.all([this.ensemble.close(), this.etcd.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
